/** Objects that several statements are made with. */

export const deployment = (replicas: number, podSpec = "") => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      ${podSpec}
      containers:
      - { name: c, image: nginx, ports: [{ containerPort: 80 }] }
`;

export const pod = (name: string, spec = "{containers: [{name: a, image: x}]}") =>
  `---\n{apiVersion: v1, kind: Pod, metadata: {name: ${name}, labels: {app: demo}}, spec: ${spec}}\n`;

export const configMap = (name: string, data: string, metadata = "") =>
  `---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}${metadata}}, data: {${data}}}\n`;

/** A definition whose group is the statement's namespace, so that statements do not meet. */
export const widgetDefinition = (namespace: string) => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.${namespace}.example.com }
spec:
  group: ${namespace}.example.com
  scope: Namespaced
  names: { plural: widgets, singular: widget, kind: Widget, listKind: WidgetList }
  versions:
  - name: v1
    served: true
    storage: true
    subresources: { status: {}, scale: { specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas } }
    additionalPrinterColumns:
    - { name: Size, type: integer, jsonPath: .spec.size }
    - { name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status' }
    - { name: Color, type: string, jsonPath: .spec.color, priority: 1 }
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: { type: integer, minimum: 1, maximum: 10, description: How big it is }
              color: { type: string, enum: [red, blue], default: red }
              label: { type: string, maxLength: 5, pattern: '^[a-z]+$' }
              replicas: { type: integer }
              port: { x-kubernetes-int-or-string: true }
              free: { type: object, x-kubernetes-preserve-unknown-fields: true }
              parts:
                type: array
                maxItems: 2
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: { name: { type: string }, weight: { type: integer, default: 1 } }
            x-kubernetes-validations:
            - { rule: 'self.size < 8 || self.color == "blue"', message: big widgets are blue }
          status: { type: object, x-kubernetes-preserve-unknown-fields: true }
`;

export const widget = (namespace: string, name: string, spec: string) =>
  `---\n{apiVersion: ${namespace}.example.com/v1, kind: Widget, metadata: {name: ${name}}, spec: {${spec}}}\n`;
