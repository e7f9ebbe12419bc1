// Put into the console's page before its own script: when is something there?

/** there waits until a selector is there and nothing waits any more, laid out. */
function locketThere(selector) {
  const is = () => document.querySelector(selector) && !document.querySelector(".waiting");
  return new Promise((done) => {
    const look = () => {
      if (!is()) return false;
      watch.disconnect();
      document.body.offsetHeight; // laid out
      done();
      return true;
    };
    const watch = new MutationObserver(look);
    watch.observe(document, { subtree: true, childList: true });
    look();
  });
}

/** In ms since the address was asked for; the first one is told. */
function locketReady(selector) {
  return locketThere(selector).then(() => performance.now());
}

/** Goes to a page as a press on a link does; in ms. */
async function locketGo(path, selector) {
  const a = document.createElement("a");
  a.href = "/nowhere";
  document.body.append(a);
  a.click();
  await new Promise((done) => setTimeout(done, 200));
  a.href = path;
  const began = performance.now();
  a.click();
  await locketThere(selector);
  a.remove();
  return performance.now() - began;
}

/** Frames a second while one goes from name to name in the graph, for three seconds. */
async function locketFrames() {
  const a = document.createElement("a");
  a.href = "/graph";
  document.body.append(a);
  a.click();
  await locketThere(".node text");
  a.remove();
  const nodes = [...document.querySelectorAll(".node")];
  nodes[0].focus();
  let frames = 0;
  const began = performance.now();
  const press = setInterval(() => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true })), 100);
  await new Promise((done) => {
    const frame = (now) => {
      frames++;
      now - began < 3000 ? requestAnimationFrame(frame) : done();
    };
    requestAnimationFrame(frame);
  });
  clearInterval(press);
  return (frames * 1000) / (performance.now() - began);
}
