import type { ChildElement, ElementType } from "./element-types.ts";

/** Prefix of properties for elements in one of libvirt's other namespaces. The writer declares it where it is used. */
const namespacePrefixes: Readonly<Record<string, string>> = {
  "http://libvirt.org/schemas/domain/qemu/1.0": "qemu",
  "http://libvirt.org/schemas/domain/lxc/1.0": "lxc",
  "http://libvirt.org/schemas/domain/bhyve/1.0": "bhyve",
  "http://libvirt.org/schemas/domain/xen/1.0": "xen",
  "http://libvirt.org/schemas/domain/vmware/1.0": "vmware",
};

function camelCase(name: string): string {
  return name.replace(/[-_.]+([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export function pascalCase(name: string): string {
  const camel = camelCase(name);
  return camel.slice(0, 1).toUpperCase() + camel.slice(1);
}

/**
 * Names that the rules would get wrong. The reference is what authors of KubeVirt's domain hooks know: the Go package
 * libvirtxml, whose field names are these but for letter case. Keys are "parent element/element".
 */
const irregularNames: Readonly<Record<string, string>> = {
  "devices/graphics": "graphics",
  // "memories" would hide that these are DIMMs and the like, next to the machine's own `memory`.
  "devices/memory": "memorydevs",
  "os/boot": "bootDevices",
  // Elements whose name is also that of an attribute of the same parent.
  "os/firmware": "firmwareInfo",
  "controller/model": "modelInfo",
  "mirror/format": "formatInfo",
};

/** Names of attributes that the rules would get wrong: `<interface><source>` has an IP address of UDP and a device's <address>. */
const irregularAttributes: Readonly<Record<string, string>> = { "source/address": "ipAddress" };

function plural(name: string): string {
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  if (/(?:s|x|z|ch|sh)$/.test(name)) return `${name}es`;
  return `${name}s`;
}

/** The model's property for a child element. */
export function propertyOfChild(parent: ElementType, child: ChildElement): string {
  const { name, namespace } = child.type;
  const irregular = irregularNames[`${parent.name}/${name}`];
  if (irregular !== undefined) return irregular;
  const camel = child.repeated ? plural(camelCase(name)) : camelCase(name);
  return namespace === parent.namespace ? camel : namespacePrefix(namespace) + pascalCase(camel);
}

/** The model's property for an attribute. */
export function propertyOfAttribute(parent: ElementType, name: string): string {
  return irregularAttributes[`${parent.name}/${name}`] ?? camelCase(name);
}

export function namespacePrefix(namespace: string): string {
  const prefix = namespacePrefixes[namespace];
  if (prefix === undefined) throw new Error(`the namespace ${namespace} has no prefix yet`);
  return prefix;
}

/** An element with nothing but text is a plain value in the model. */
export function isScalar(type: ElementType): boolean {
  return type.attributes.size === 0 && type.children.length === 0 && type.text.length > 0;
}

/** An element that stands for any element: it has no name of its own in the model. */
export function isAny(type: ElementType): boolean {
  return type.name === "*";
}

/** TypeScript names that say more than where the element was first met. */
export const irregularTypeNames: Readonly<Record<string, string>> = { "serial/source": "DomainChardevSource" };
