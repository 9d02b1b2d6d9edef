// The page of a labeler in a notebook. Python says what there is to see (`shown`) and takes presses.
// Every text is set as text, never as HTML: names and fields come from strangers.

// A press sooner after a question has appeared was meant for the one before.
const GUARD_MS = 200;
// Python answers a press at once, unless a cell keeps the kernel busy.
const PATIENCE_MS = 4000;

const ANSWERS = [
  ["inlier", "Inlier", "i"],
  ["outlier", "Outlier", "o"],
  ["probably inlier", "Probably inlier", "k"],
  ["probably outlier", "Probably outlier", "l"],
  ["unsure", "Unsure", "u"],
  ["later", "Skip", "s"],
  ["others", "To others", "x"],
  ["drop", "Drop", "d"],
];
const ALWAYS = [
  ["undo", "Undo", "z"],
  ["quit", "Stop", "q"],
  ["finish", "Compute the result now", ""],
];

function made(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function row(cells, tag = "td") {
  const line = made("tr");
  for (const cell of cells) {
    line.append(cell instanceof Element ? cell : made(tag, "", cell));
  }
  return line;
}

function bar(share) {
  const frame = made("span", "bar");
  frame.setAttribute("aria-hidden", "true");
  const filled = made("i");
  filled.style.width = `${50 * Math.abs(share)}%`;
  filled.style[share < 0 ? "right" : "left"] = "50%";
  filled.style.background = share < 0 ? "var(--inlier)" : "var(--outlier)";
  frame.append(filled);
  return frame;
}

function fields(question) {
  const table = made("table", "fields");
  for (const [name, text] of question.fields) {
    const heading = made("th", "", name);
    heading.scope = "row";
    table.append(row([heading, text]));
  }
  if (question.more_fields) table.append(row(["", `${question.more_fields} more fields`]));
  return table;
}

function features(question, unfolded) {
  const table = made("table", "features");
  const shown = question.features.filter((one) => unfolded || !one.folded);
  if (!shown.length) return table;
  const headings = ["Feature", "Value", "Deviation", "", question.typical];
  table.append(row(headings, "th"));
  for (const one of shown) {
    const middle = made("td");
    if (one.deviation) middle.append(bar(one.bar));
    const numbers = [one.value, one.deviation, one.typical].map((text) => made("td", "number", text));
    table.append(row([one.name, numbers[0], middle, numbers[1], numbers[2]]));
  }
  if (unfolded && question.more_features) {
    table.append(row([`${question.more_features} more features`]));
  }
  return table;
}

function nearby(question) {
  const line = made("p", "quiet nearby");
  if (!question.nearby.length) return line;
  line.append("Nearest labels (distance): ");
  question.nearby.forEach((near, position) => {
    if (position) line.append(", ");
    line.append(made("b", "", near.verdict), ` ${near.text}`);
  });
  return line;
}

function render({ model, el }) {
  const root = made("div", "svddtune-label");
  root.tabIndex = 0;
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Labelling");
  // JupyterLab takes single keys for commands of its own, unless it is told not to.
  root.setAttribute("data-lm-suppress-shortcuts", "true");

  const title = made("div", "quiet title");
  const heading = made("div", "heading");
  heading.setAttribute("aria-live", "polite");
  const body = made("div", "scroll body");
  const buttons = made("div", "buttons");
  const note = made("div", "note");
  note.setAttribute("role", "status");
  const progress = made("div", "labels");
  const evidence = made("div", "quiet evidence");
  root.append(title, heading, body, buttons, note, progress, evidence);

  let appeared = 0;
  let turn = -1;
  let answered = -1; // the turn whose answer is on its way
  let unfolded = false;
  let waiting = 0;

  const now = () => model.get("shown");

  function press(word) {
    const shown = now();
    if (shown.ended.length) return;
    const about = ANSWERS.some(([one]) => one === word);
    if (about) {
      if (!shown.question || answered === shown.turn) return;
      if (performance.now() - appeared < GUARD_MS) return;
      if (word !== "drop" && !shown.confirming) answered = shown.turn;
    } else if (word === "undo" && !shown.undo) return;
    model.send(about || word === "yes" ? { do: word, turn: shown.turn } : { do: word });
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      note.className = "note alert";
      note.textContent =
        "The kernel does not answer. If a cell is running, your press counts once it has ended.";
    }, PATIENCE_MS);
    able();
  }

  const known = new Map();
  for (const [word, text, key] of [...ANSWERS, ["yes", "Yes, drop it", "y"], ...ALWAYS]) {
    const button = made("button", word === "inlier" || word === "outlier" ? word : "", text);
    button.type = "button";
    button.dataset.word = word;
    if (key) {
      button.append(" ", made("kbd", "", key));
      button.setAttribute("aria-keyshortcuts", key);
    }
    button.addEventListener("click", () => press(word));
    known.set(word, { button, key });
    buttons.append(button);
  }
  const more = made("button", "", "All features");
  more.type = "button";
  more.append(" ", made("kbd", "", "f"));
  more.addEventListener("click", () => unfold());
  buttons.append(more);

  function unfold() {
    unfolded = !unfolded;
    draw();
  }

  // (A button that is switched off would lose the focus, and with it the keys.)
  function able() {
    const shown = now();
    const asked = Boolean(shown.question) && answered !== shown.turn;
    for (const [word] of ANSWERS) {
      known.get(word).button.setAttribute("aria-disabled", String(!asked));
    }
    known.get("undo").button.setAttribute("aria-disabled", String(!shown.undo));
    known.get("yes").button.hidden = !shown.confirming;
    known.get("finish").button.hidden = !model.get("finishes");
  }

  function draw() {
    const shown = now();
    const question = shown.question;
    if (shown.turn !== turn) {
      turn = shown.turn;
      unfolded = false;
      appeared = performance.now();
    }
    // (Python takes no second answer of the same turn.)
    answered = -1;
    clearTimeout(waiting);
    title.textContent = shown.title || "";
    heading.textContent = question ? question.heading : shown.waiting || "";
    body.replaceChildren();
    if (question) {
      if (question.votes) body.append(made("p", "alert votes", question.votes));
      body.append(fields(question), features(question, unfolded), nearby(question));
      if (question.why) body.append(made("p", "quiet why", `Why: ${question.why}`));
    }
    for (const line of shown.ended) body.append(made("div", "ended", line));
    buttons.hidden = shown.ended.length > 0;
    more.hidden = !question || !question.features.some((one) => one.folded);
    able();
    const urgent = shown.connection || shown.confirming;
    note.className = urgent ? "note alert" : "note quiet";
    note.textContent = urgent || shown.note || "";
    progress.replaceChildren();
    if (shown.labels) {
      const frame = made("span", "progress");
      const filled = made("i");
      filled.style.width = `${100 * shown.share}%`;
      frame.append(filled);
      progress.append(frame, shown.labels);
      if (shown.left) progress.append(made("span", "quiet", `   ${shown.left}`));
    }
    evidence.replaceChildren(...(shown.evidence || []).map((line) => made("div", "", line)));
  }

  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // (A notebook's shortcuts must not see what is typed here.)
    event.stopPropagation();
    if (event.repeat) return;
    const key = event.key.toLowerCase();
    const found = [...known].find(([, one]) => one.key && one.key === key && !one.button.hidden);
    if (found) press(found[0]);
    else if (key === "f" && !more.hidden) unfold();
    else return;
    event.preventDefault();
  });

  const sign = () => model.send({ do: "sign" });
  model.on("change:shown", draw);
  model.on("change:finishes", able);
  model.on("change:asked_for_sign", sign);
  el.append(root);
  draw();
  root.focus({ preventScroll: true });
  sign();
  return () => {
    clearTimeout(waiting);
    model.off("change:shown", draw);
    model.off("change:finishes", able);
    model.off("change:asked_for_sign", sign);
  };
}

export default { render };
