import { defineErrors, type ErrorKind } from "@polyvirt/core";

/** What can go wrong between a machine definition's text and its model. */
export const errorKinds = {
  DomainXmlMalformed: {
    meaning: "The text is not well-formed XML, or uses what the strict reader refuses (a DTD, an entity).",
    action: "Correct the XML at the line and column that the message names.",
    retry: false,
  },
  DomainXmlTooLarge: {
    meaning: "The XML is larger, deeper or has more attributes than the reader's limits allow.",
    action: "Shorten the definition; a libvirt domain stays far below the limits.",
    retry: false,
  },
  DomainXmlNotDomain: {
    meaning: "The XML document is well-formed but its root is not a libvirt <domain>.",
    action: "Pass the domain's definition, without an enclosing element.",
    retry: false,
  },
  DomainModelUnwritable: {
    meaning: "The domain model has a value that cannot be written as XML: an unknown property or a wrong shape.",
    action: "Correct the value at the path that the message names.",
    retry: false,
  },
  DomainInvalid: {
    meaning: "The domain does not follow libvirt's schema.",
    action: "Correct the values at the paths that the message names; it lists what is allowed there.",
    retry: false,
  },
  DomainPathUnknown: {
    meaning: "A path names no place of the domain model.",
    action: "Use one of the properties that the message lists.",
    retry: false,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);
