// A device plug-in with Kubernetes' own stubs, to see that they and our kubelet understand each other.
// Usage: go-device-plugin DIRECTORY RESOURCE DEVICE…; each line on standard input is a new list of healthy devices.
package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const endpoint = "go-plugin.sock"

type plugin struct {
	api.UnimplementedDevicePluginServer
	all     []string
	healthy chan map[string]bool
}

func (p *plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{PreStartRequired: true, GetPreferredAllocationAvailable: true}, nil
}

// The last devices first, which is not what anybody would do who was not asked to.
func (p *plugin) GetPreferredAllocation(_ context.Context, request *api.PreferredAllocationRequest) (*api.PreferredAllocationResponse, error) {
	response := &api.PreferredAllocationResponse{}
	for _, container := range request.ContainerRequests {
		ids := append([]string{}, container.AvailableDeviceIDs...)
		sort.Sort(sort.Reverse(sort.StringSlice(ids)))
		response.ContainerResponses = append(response.ContainerResponses, &api.ContainerPreferredAllocationResponse{
			DeviceIDs: ids[:container.AllocationSize],
		})
	}
	return response, nil
}

func (p *plugin) PreStartContainer(_ context.Context, request *api.PreStartContainerRequest) (*api.PreStartContainerResponse, error) {
	fmt.Println("pre-start", strings.Join(request.DevicesIds, ","))
	return &api.PreStartContainerResponse{}, nil
}

func (p *plugin) ListAndWatch(_ *api.Empty, stream grpc.ServerStreamingServer[api.ListAndWatchResponse]) error {
	for {
		select {
		case <-stream.Context().Done():
			return nil
		case healthy := <-p.healthy:
			response := &api.ListAndWatchResponse{}
			for _, id := range p.all {
				health := api.Unhealthy
				if healthy[id] {
					health = api.Healthy
				}
				response.Devices = append(response.Devices, &api.Device{
					ID: id, Health: health, Topology: &api.TopologyInfo{Nodes: []*api.NUMANode{{ID: 0}}},
				})
			}
			if err := stream.Send(response); err != nil {
				return err
			}
		}
	}
}

func (p *plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	response := &api.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		response.ContainerResponses = append(response.ContainerResponses, &api.ContainerAllocateResponse{
			Envs:        map[string]string{"GO_DEVICES": strings.Join(container.DevicesIds, ",")},
			Mounts:      []*api.Mount{{ContainerPath: "/go-device-data", HostPath: "/etc/hostname", ReadOnly: true}},
			Devices:     []*api.DeviceSpec{{ContainerPath: "/dev/go-device", HostPath: "/dev/null", Permissions: "rw"}},
			Annotations: map[string]string{"example.com/devices": strings.Join(container.DevicesIds, ",")},
		})
	}
	return response, nil
}

func main() {
	directory, resource, devices := os.Args[1], os.Args[2], os.Args[3:]
	p := &plugin{all: devices, healthy: make(chan map[string]bool, 1)}
	p.healthy <- set(devices)
	socket := filepath.Join(directory, endpoint)
	os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	check(err)
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, p)
	go server.Serve(listener)

	connection, err := grpc.NewClient("unix://"+filepath.Join(directory, "kubelet.sock"),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err = api.NewRegistrationClient(connection).Register(ctx, &api.RegisterRequest{
		Version: api.Version, Endpoint: endpoint, ResourceName: resource,
	})
	check(err)
	fmt.Println("registered")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		p.healthy <- set(strings.Fields(lines.Text()))
	}
}

func set(ids []string) map[string]bool {
	found := map[string]bool{}
	for _, id := range ids {
		found[id] = true
	}
	return found
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
