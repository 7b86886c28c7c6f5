  // Elements of the pages: text is only ever text, and a link is only to http or https.
  function make(tag, kind, ...children) {
    const node = document.createElement(tag);
    if (kind) node.className = kind;
    node.append(...children.filter((child) => child !== "" && child !== null));
    return node;
  }

  function link(url) {
    if (!/^https?:\/\//i.test(url)) return make("div", "soft", url);
    const node = make("a", "soft", url);
    node.href = url;
    node.target = "_blank";
    node.rel = "noopener noreferrer";
    return node;
  }
