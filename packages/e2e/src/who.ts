/** How the processes of a cluster are told apart by their command lines. */
const role = (bundle: string): RegExp => new RegExp(`^\\S*node\\S* .*dist/${bundle}\\.js`);

export const isCluster = role("cluster");
export const isApi = role("virt-api");
export const isController = role("virt-controller");
export const isHandler = role("virt-handler");
export const isOperator = role("virt-operator");
const isLauncher = role("virt-launcher[a-z-]*");
export const isQemu = /^\S*qemu-system/;
export const isLibvirtDaemon = /^\S*libvirtd/;

export const launcherOf = (name: string): RegExp => new RegExp(`${isLauncher.source}.*--name ${name}( |$)`);
export const qemuOf = (name: string): RegExp => new RegExp(`${isQemu.source}.*guest=default_${name},`);
