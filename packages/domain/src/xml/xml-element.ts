/**
 * An XML element as plain JSON. The domain model keeps what libvirt's schema does not name in this form: vendor
 * elements, metadata, and elements of a newer libvirt.
 */
export interface XmlElement {
  /** The name as written, with its prefix: `qemu:arg`, `instance`. */
  name: string;
  /** Attributes as written, namespace declarations (`xmlns`, `xmlns:app`) included. */
  attributes?: Record<string, string> | undefined;
  /** Child elements and text in document order. Text between elements is kept only in mixed content. */
  children?: (XmlElement | string)[] | undefined;
}
