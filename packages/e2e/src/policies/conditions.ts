import type { Random } from "./random.ts";

type Template = (random: Random) => string;

const comparison: Template = (random) => random.pick(["<", "<=", ">", ">=", "==", "!="]);
const quoted = (random: Random, choices: readonly string[]): string => `'${random.pick(choices)}'`;
const names = ["abc", "web", "x-1", "a", ""];

/** What can be asked about a widget; much of it fails when the field is missing or holds something unfit. */
const aboutObject: readonly Template[] = [
  (random) => `object.spec.replicas ${comparison(random)} ${random.below(10)}`,
  (random) => `object.spec.replicas ${comparison(random)} ${random.pick(["2.5", "3u", "-1"])}`,
  (random) => `object.spec.ratio ${comparison(random)} ${random.pick(["1.0", "2.25", "1"])}`,
  (random) => `object.spec.name == ${quoted(random, names)}`,
  (random) => `object.spec.name.${random.pick(["startsWith", "endsWith", "contains"])}(${quoted(random, names)})`,
  (random) => `object.spec.name.matches('${random.pick(["^[a-z]+$", "\\\\d", "ö", "^(a|b)*c?$"])}')`,
  (random) => `size(object.spec.name) ${comparison(random)} ${random.below(6)}`,
  (random) => `object.spec.name.substring(${random.below(5)}) != ''`,
  (random) => `object.spec.name.charAt(${random.below(5)}) == 'b'`,
  (random) => `object.spec.name.upperAscii() == ${quoted(random, ["ABC", "WEB"])}`,
  (random) => `object.spec.name.split('${random.pick(["", "-", "/"])}').join('+') == 'a+b~c'`,
  (random) => `object.spec.name.find('[a-z]+') == ${quoted(random, ["abc", "x", "r"])}`,
  (random) => `object.spec.name.findAll('[a-z]', ${random.below(3)}).size() > 1`,
  (random) => `object.spec.name.replace('b', 'd', ${random.below(3) - 1}) == 'adc'`,
  () => "object.spec.name.reverse() == 'cba'",
  (random) =>
    `'%s|%d|%.2f|%x'.format([object.spec.name, object.spec.replicas, object.spec.ratio, 255]) == '${random.pick(["abc|3|1.00|ff", ""])}'`,
  () => "object.spec.enabled",
  () => "!object.spec.enabled",
  (random) => `has(object.spec.${random.pick(["nested", "items", "missing", "nested.a", "nested.a.b", "free.x"])})`,
  (random) => `object.spec.?nested.?a.?b.orValue('none') == ${quoted(random, ["c", "none"])}`,
  (random) => `object.spec.nested.a.b == ${quoted(random, ["c", "d"])}`,
  (random) => `object.spec[?'${random.pick(["replicas", "missing"])}'].hasValue()`,
  (random) =>
    `object.spec.?replicas.optMap(r, r ${comparison(random)} ${random.below(10)}).orValue(${random.chance(0.5)})`,
  (random) => `${quoted(random, ["a", "b", "e"])} in object.spec.tags`,
  (random) => `object.spec.tags == ['a', ${quoted(random, ["b", "c"])}]`,
  (random) => `sets.contains(object.spec.tags, ['a', ${quoted(random, ["b", "c"])}])`,
  (random) => `sets.intersects(object.spec.tags, ['${random.pick(["a", "e"])}'])`,
  () => "object.spec.notes.isSorted()",
  (random) => `object.spec.notes.${random.pick(["min", "max"])}() == ${quoted(random, ["x", "z"])}`,
  (random) => `object.spec.notes.${random.pick(["indexOf", "lastIndexOf"])}('x') == ${random.below(2)}`,
  (random) => `object.spec.notes[${random.below(3)}] == 'x'`,
  (random) => `object.spec.notes + ['x'] ${random.pick(["==", "!="])} ['x', 'x']`,
  (random) => `object.spec.items.all(i, i.size ${comparison(random)} ${random.below(9)})`,
  (random) => `object.spec.items.exists(i, i.size ${comparison(random)} ${random.below(9)})`,
  (random) => `object.spec.items.exists_one(i, i.name == 'i${1 + random.below(3)}')`,
  (random) => `object.spec.items.map(i, has(i.size), i.size).sum() ${comparison(random)} ${random.below(12)}`,
  (random) => `object.spec.items.filter(i, has(i.env)).map(i, i.name).size() ${comparison(random)} ${random.below(3)}`,
  (random) => `object.spec.items.all(index, item, index < ${random.below(3)} || item.size > 3)`,
  (random) =>
    `object.spec.items.transformList(index, item, item.name).join(',') == ${quoted(random, ["i1,i2", "i1", ""])}`,
  (random) => `object.spec.labels.exists(key, value, value == ${quoted(random, ["web", "db"])})`,
  (random) =>
    `object.spec.labels.transformMap(key, value, size(value)).all(key, key.contains('${random.pick(["a", "t"])}'))`,
  (random) => `object.spec.labels['${random.pick(["app", "a.b/c"])}'] == 'web'`,
  (random) => `object.spec.labels.all(k, object.spec.labels[k] == ${quoted(random, ["web", "db"])})`,
  (random) => `quantity(object.spec.memory).isGreaterThan(quantity('${random.pick(["700Mi", "1Gi", "2G"])}'))`,
  (random) =>
    `quantity(object.spec.memory).add(quantity('1Gi')).compareTo(quantity('${random.pick(["2Gi", "1536Mi"])}')) == 0`,
  () => "isQuantity(object.spec.memory) && quantity(object.spec.memory).isInteger()",
  (random) => `semver(object.spec.version).compareTo(semver('${random.pick(["1.2.3", "2.0.0"])}')) >= 0`,
  (random) => `semver(object.spec.version, true).${random.pick(["major", "minor", "patch"])}() > ${random.below(3)}`,
  () => "isSemver(object.spec.version)",
  (random) => `isIP(object.spec.address) ? ip(object.spec.address).family() == ${random.pick([4, 6])} : false`,
  (random) => `ip(object.spec.address).${random.pick(["isLoopback", "isLinkLocalUnicast", "isUnspecified"])}()`,
  (random) => `cidr('${random.pick(["192.168.0.0/16", "::/0", "172.16.0.0/12"])}').containsIP(object.spec.address)`,
  (random) =>
    `url(object.spec.link).${random.pick(["getHost", "getHostname", "getPort", "getEscapedPath"])}() == ${quoted(random, ["example.com", "80", "/relative"])}`,
  () => "isURL(object.spec.link) && url(object.spec.link).getQuery()['q'] == ['1', '2']",
  (random) =>
    `timestamp(object.spec.when).getDayOfMonth('${random.pick(["UTC", "Asia/Tokyo", "-02:00"])}') == ${random.pick([0, 29])}`,
  (random) =>
    `timestamp(object.spec.when) - timestamp('2020-01-01T00:00:00Z') > duration('${random.pick(["1000h", "11000h"])}')`,
  (random) => `duration(object.spec.wait) ${comparison(random)} duration('1h')`,
  (random) => `type(object.spec.port) == ${random.pick(["int", "string"])}`,
  (random) => `object.spec.port ${comparison(random)} 8080`,
  () => "object.spec.free.x == 1",
  () => "object.spec.free == {'x': [1, 'two', null]}",
  () => "size(object.spec.free) == 1",
  (random) =>
    `format.${random.pick(["dns1123Label", "dns1123Subdomain", "qualifiedName"])}().validate(object.spec.name).hasValue()`,
  () => "!format.named('dns1035Label').value().validate(object.spec.name).hasValue()",
  (random) => `int(object.spec.name) > ${random.below(3)}`,
  (random) => `${random.below(9)} / (object.spec.replicas - 3) > 0`,
  () => "object.spec.replicas * 9223372036854775807 > 0",
  () => "object.spec.name + object.spec.replicas == ''",
  () => "object.spec == object.spec",
  (random) => `object.metadata.labels['app'] ${random.pick(["==", "!="])} object.metadata.name`,
  () => "object.metadata.namespace == request.namespace",
  () => "object.apiVersion == 'policies.example.com/v1' && object.kind == 'Widget'",
  () => "object.metadata.generation == 1",
];

const aboutRequest: readonly Template[] = [
  (random) => `request.operation == '${random.pick(["CREATE", "UPDATE", "DELETE"])}'`,
  (random) => `request.operation in ['CREATE', '${random.pick(["UPDATE", "DELETE"])}']`,
  () => "request.kind.kind == 'Widget' && request.kind.group == 'policies.example.com'",
  () => "request.resource.resource == 'widgets' && request.resource.version == 'v1'",
  () => "request.requestKind == request.kind && request.subResource == ''",
  (random) => `request.userInfo.username == '${random.pick(["admin", "ed"])}'`,
  (random) => `'${random.pick(["writers", "system:authenticated", "system:masters"])}' in request.userInfo.groups`,
  () => "request.name == object.metadata.name",
  () => "request.dryRun",
  () => "has(request.uid) && request.uid != ''",
  (random) => `has(request.${random.pick(["options", "subResource", "namespace", "dryRun"])})`,
  () => "oldObject == null",
  () => "oldObject.spec.replicas <= object.spec.replicas",
  () => "oldObject != null && object != null && object.spec == oldObject.spec",
  (random) => `namespaceObject.metadata.labels['env'] == '${random.pick(["prod", "test"])}'`,
  () => "namespaceObject.metadata.name == request.namespace",
  () => "namespaceObject.status.phase == 'Active' && 'kubernetes' in namespaceObject.spec.finalizers",
  () => "has(namespaceObject.metadata.annotations)",
  (random) =>
    `authorizer.group('').resource('${random.pick(["configmaps", "nodes"])}').namespace(request.namespace).check('${random.pick(["get", "delete"])}').allowed()`,
  (random) => `authorizer.requestResource.check('${random.pick(["create", "delete", "escalate"])}').allowed()`,
  (random) => `authorizer.path('/${random.pick(["healthz", "metrics"])}').check('get').allowed()`,
  (random) =>
    `authorizer.serviceAccount('default', 'default').group('apps').resource('deployments').subresource('scale').name('x').check('update').${random.pick(["allowed()", "reason() == ''", "errored()"])}`,
];

/** Things that no server may store. */
export const brokenConditions: readonly string[] = [
  "object.spec.replicas <",
  "object.spec.name",
  "1 + 1",
  "'text'",
  "nothing.at.all",
  "request.missing == 1",
  "request.operation == 1",
  "namespaceObject.spec.x == 1",
  "variables.unknown == 1",
  "params.x == 1",
  "object.spec.items.all(i)",
  "object.spec.items.all(1, true)",
  "object.name.frobnicate()",
  "authorizer.group(1)",
  "has(object)",
  "object.spec.name.matches('(')",
  "duration('later') > duration('1h')",
  "timestamp('never') == timestamp('never')",
  "[1, 'two'] == []",
  "{'a': 1, 'b': 'two'} == {}",
  "true ? 1 : 'a'",
  "cel.bind(x, 1, x == 1)",
  "math.greatest(1, 2) == 2",
  "base64.encode(b'x') == ''",
  "object{} == null",
  "8Gi > 1",
  "true &&& false",
  "'unterminated",
  "1 == 1 == 1",
  "oldSelf == self",
  "[[[[1]]]].x",
  "object.spec.?x == 1",
];

/** An expression that has a truth value, if it has one. */
export function randomCondition(random: Random, depth = 1): string {
  if (depth > 0 && random.chance(0.35)) {
    const inner = (): string => randomCondition(random, depth - 1);
    return random.pick([
      () => `${inner()} && ${inner()}`,
      () => `${inner()} || ${inner()}`,
      () => `!(${inner()})`,
      () => `${inner()} ? ${inner()} : ${inner()}`,
    ])();
  }
  return random.pick(random.chance(0.75) ? aboutObject : aboutRequest)(random);
}

/** Each template once, in order, so that none is left to chance. */
export const conditionTemplates: readonly Template[] = [...aboutObject, ...aboutRequest];
