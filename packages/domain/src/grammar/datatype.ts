/** A datatype of the grammar: an XML Schema type with the facets that libvirt's schemas use. */
export interface Datatype {
  readonly type: string;
  readonly pattern?: string;
  readonly min?: string;
  readonly max?: string;
  readonly maxLength?: number;
  readonly except?: readonly string[];
}
