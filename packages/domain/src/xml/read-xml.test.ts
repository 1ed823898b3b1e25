import { describe, expect, it } from "vitest";
import { positionOf, readXml, type XmlNode } from "./read-xml.ts";

/** Compact form for expectations: `[name, attributes, ...children]`. */
function shape(node: XmlNode): unknown[] {
  return [node.name, [...node.attributes], ...node.children.map((c) => (typeof c === "string" ? c : shape(c)))];
}

describe("readXml", () => {
  it("reads elements, attributes and text", () => {
    expect(shape(readXml(`<a x="1" y='two'>t<b/>u</a>`))).toEqual(["a", ["x", "1", "y", "two"], "t", ["b", []], "u"]);
  });

  it("accepts a declaration, a byte order mark, comments and processing instructions around and inside", () => {
    const text = `\ufeff<?xml version="1.0" encoding='utf-8' standalone="yes"?>\n<!-- c --><?pi x?><a>x<!-- - -->y<?p?>z</a>\n<!---->`;
    expect(shape(readXml(text))).toEqual(["a", [], "xyz"]);
  });

  it("joins CDATA with the text around it and expands nothing in it", () => {
    expect(shape(readXml("<a>1<![CDATA[<&amp;]]>2</a>"))).toEqual(["a", [], "1<&amp;2"]);
  });

  it("expands the five entities and character references", () => {
    expect(shape(readXml(`<a b="&quot;&#10;&#x1F600;">&lt;&gt;&amp;&apos;&#13;</a>`))).toEqual([
      "a",
      ["b", '"\n😀'],
      "<>&'\r",
    ]);
  });

  it("normalises line ends in text and white space in attributes", () => {
    expect(shape(readXml(`<a b="x\r\ny\tz\rw">1\r\n2\r3</a>`))).toEqual(["a", ["b", "x y z w"], "1\n2\n3"]);
  });

  it("takes names beyond ASCII and with prefixes", () => {
    expect(shape(readXml("<q:größe 名='1'/>"))).toEqual(["q:größe", ["名", "1"]]);
  });

  it.each([
    ["", "1:1: there is no root element"],
    ["text", "1:1: text before the root"],
    ["<a/><b/>", "1:5: content after the root element"],
    ["<a>\n  <b>\n</a>", "3:1: </a> closes <b> of line 2:3"],
    ["<a", "1:1: the start tag of <a> is not closed"],
    ["<a><b/>", "1:1: the element <a> is not closed"],
    ["<a x=1/>", "1:6: the value of the attribute x must be quoted"],
    ["<a x/>", "1:5: the attribute x has no value"],
    [`<a x="1"y="2"/>`, "1:9: attributes of <a> must be separated by a space"],
    [`<a x="1" x="2"/>`, "1:10: the attribute x is given twice"],
    [`<a x="<"/>`, "1:7: < in the attribute x must be written &lt;"],
    [`<a x="1/>`, "1:6: the value of the attribute x is not closed"],
    ["<a>&nbsp;</a>", "1:4: the entity &nbsp; is not supported: only the five predefined ones are"],
    ["<a>a & b</a>", "1:6: & must be written &amp;"],
    ["<a>&#0;</a>", "1:4: the reference &#0; names a character that XML does not allow"],
    ["<a>&#xD800;</a>", "1:4: the reference &#xD800; names a character that XML does not allow"],
    ["<a>&#x110000;</a>", "1:4: the reference &#x110000; names a character that XML does not allow"],
    ["<a>\u0001</a>", "1:4: the character U+0001 is not allowed in XML"],
    ["<a>\n\ud800</a>", "2:1: the character U+D800 is not allowed in XML"],
    ["<a>]]></a>", "1:4: ]]> in text must be written ]]&gt;"],
    ["<a><!-- x -- y --></a>", "1:11: a comment must not contain --"],
    ["<a><!-- x", "1:4: the comment is not closed"],
    ["<a><![CDATA[x", "1:4: the CDATA section is not closed"],
    ["<a><?xml version='1.0'?></a>", "1:4: an XML declaration may only stand at the very beginning"],
    ["<?xml encoding='utf-8'?><a/>", "1:1: the XML declaration is not well-formed"],
    ["<a><1/></a>", "1:4: an element's name must follow <"],
    ["<a / >", "1:4: / must be followed by >"],
    ["<a></a", "1:7: </a> is not closed"],
    ["<a></ab>", "1:4: </ab> closes <a> of line 1:1"],
  ])("refuses %j", (text, message) => {
    expect(() => readXml(text)).toThrowError(`read XML, line ${message}`);
  });

  it("refuses document type declarations, so no entity can be defined or fetched", () => {
    const bomb = `<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>`;
    expect(() => readXml(bomb)).toThrowError("line 2:1: a document type declaration is not accepted");
    expect(() => readXml(`<a><!ELEMENT b></a>`)).toThrowError("unknown markup");
  });

  it("bounds length, depth, attributes and elements", () => {
    expect(() => readXml("<a>xxxxxxxx</a>", { maxLength: 10 })).toThrowError("more than the limit of 10");
    expect(() => readXml("<a>".repeat(300) + "</a>".repeat(300))).toThrowError(
      "line 1:769: elements are nested more than 256",
    );
    expect(() => readXml(`<a b="" c="" d=""/>`, { maxAttributes: 2 })).toThrowError("<a> has more than 2 attributes");
    expect(() => readXml("<a><b/><b/></a>", { maxElements: 2 })).toThrowError("line 1:8: more than 2 elements");
    expect(() => readXml("<a>xxxxxxxx</a>", { maxLength: 10 })).toThrowError(
      expect.objectContaining({ code: "DomainXmlTooLarge" }),
    );
  });

  it("says where it failed to programs too", () => {
    expect(() => readXml("<a>\n <b")).toThrowError(
      expect.objectContaining({ code: "DomainXmlMalformed", fields: { line: 2, column: 2 }, retry: false }),
    );
  });
});

describe("positionOf", () => {
  it("counts lines and columns from 1", () => {
    expect(positionOf("ab\ncd\n", 0)).toEqual({ line: 1, column: 1 });
    expect(positionOf("ab\ncd\n", 4)).toEqual({ line: 2, column: 2 });
    expect(positionOf("ab\ncd\n", 6)).toEqual({ line: 3, column: 1 });
  });
});
