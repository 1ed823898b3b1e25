module polyvirt.local/bench/libvirtxml

go 1.22

require libvirt.org/go/libvirtxml v1.11010.0
