/**
 * The machine definition: libvirt's complete domain model as plain JSON-like objects, its XML reader and writer, and
 * structural validation. Pure, and knows no hypervisor: what a field means to QEMU is decided elsewhere.
 * Start with `gen/domain.ts` (the types), then `model/domain-extras.ts` (what keeps unknown content).
 */
export type * from "./gen/domain.ts";
export type { DomainExtras, Integer, Open } from "./model/domain-extras.ts";
export type { XmlElement } from "./xml/xml-element.ts";
export { checkDomainPath, diffDomains, getDomainValue, patchDomain, setDomainValue } from "./model/domain-paths.ts";
export { readDomain } from "./model/read-domain.ts";
export { writeDomain } from "./model/write-domain.ts";
export { recordProvenance, whoSet, type Provenance, type ProvenanceRecorder } from "./provenance.ts";
export {
  assertValidDomain,
  validateDomain,
  type DomainProblem,
  type ValidateOptions,
} from "./validate/validate-domain.ts";
export { readXml, type XmlLimits, type XmlNode } from "./xml/read-xml.ts";
export { errorKinds } from "./errors.ts";
