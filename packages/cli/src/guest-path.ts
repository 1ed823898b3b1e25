/** Where the API server serves what can be asked of, or done to, a running guest. */
export function guestPath(namespace: string, name: string, subresource: string): string {
  const object = `namespaces/${encodeURIComponent(namespace)}/virtualmachineinstances/${encodeURIComponent(name)}`;
  return `/apis/subresources.kubevirt.io/v1/${object}/${subresource}`;
}
