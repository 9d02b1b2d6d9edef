var e=/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffc]/g;function r(u){return u.replaceAll(`\r
`,`
`).replace(e,f=>`\u27E8U+${f.charCodeAt(0).toString(16).toUpperCase().padStart(4,"0")}\u27E9`)}export{r as a};
