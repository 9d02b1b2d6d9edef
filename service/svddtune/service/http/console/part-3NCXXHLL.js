function n(t,r){return new Promise(e=>{let i=setTimeout(e,t);r?.addEventListener("abort",()=>{clearTimeout(i),e()})})}export{n as a};
