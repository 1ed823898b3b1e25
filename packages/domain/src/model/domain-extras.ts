import type { XmlElement } from "../xml/xml-element.ts";

/**
 * What an element can carry beyond what libvirt's schema names. Reading XML puts it here, writing puts it back, and
 * validation refuses it wherever the schema has no place for it.
 */
export interface DomainExtras {
  /** Attributes that the model has no property for, and namespace declarations, by their name as written. */
  $attributes?: Record<string, string> | undefined;
  /**
   * Elements that the model has no property for: content of `<metadata>`, vendors' elements, elements of a newer
   * libvirt, and second occurrences of what may stand only once. Written after all others.
   */
  $elements?: XmlElement[] | undefined;
  /** Text where the schema has none. */
  $text?: string | undefined;
  /** Prefix of an element in one of libvirt's other namespaces, when it is not the usual one; "" for the default. */
  $prefix?: string | undefined;
}

/**
 * An integer. Reading gives a number when the text is its plain decimal form and exactly representable; any other text
 * (`007`, `18446744073709551615`) is kept as the string it is, so that nothing is lost. Writers may give either.
 */
export type Integer = number | string;

/** One of the named values; any other string can be held too, and is refused by validation. */
export type Open<Values extends string> = Values | (string & {});
