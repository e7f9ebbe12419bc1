package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/node/intake/wire"
)

// Devices manages which wearables may connect to the node's own broker.
type Devices interface {
	// AddLogin makes credentials, which are shown only once. It returns ErrConflict
	// if the name is used, or [memory.ErrLocked]. A login that a replay has left
	// behind is replaced.
	AddLogin(ctx context.Context, r AddDeviceRequest) (DeviceCredentials, error)
	Devices(ctx context.Context) ([]Device, error)
	// RemoveDevice ends a device's credentials and connection. Its memories
	// stay.
	RemoveDevice(ctx context.Context, name string) error
}

// Device is a wearable that may speak to the node's broker.
type Device struct {
	Name      string    `json:"name"`
	Added     time.Time `json:"added,omitzero"`     // absent: the broker has its own credentials for it
	LastSeen  time.Time `json:"last_seen,omitzero"` // while the node is locked: only since the start
	Connected bool      `json:"connected"`
	Events    uint64    `json:"events"`            // number of events since the node was started
	Battery   *int      `json:"battery,omitempty"` // percent, as last reported since the daemon was started
	Publish   []string  `json:"publish,omitempty"` // topics beyond its own, see AddDeviceRequest
	Read      []string  `json:"read,omitempty"`
}

// DeviceCredentials is what has to be entered into a new wearable. It is shown only
// once.
type DeviceCredentials struct {
	Name     string `json:"name"`
	Broker   string `json:"broker"` // URL that the device connects to
	Username string `json:"username"`
	Password Secret `json:"password"`
	ClientID string `json:"client_id"`
	Topics   string `json:"topics"`         // the topic prefix that it may use
	Page     Secret `json:"page,omitempty"` // link that turns a phone or laptop into the wearable; absent without api.remote

	Publish []string `json:"publish,omitempty"`
	Read    []string `json:"read,omitempty"`
}

// DevicesAnswer lists wearables.
type DevicesAnswer struct {
	Devices []Device `json:"devices"`
}

// AddDeviceRequest names a new wearable, or software that connects to the node's
// broker with topics of its own, such as OwnTracks.
type AddDeviceRequest struct {
	Name    string   `json:"name"`
	Publish []string `json:"publish,omitempty"` // MQTT topic filters beyond its own topics, such as owntracks/#; none of locket/
	Read    []string `json:"read,omitempty"`
	Replay  bool     `json:"replay,omitempty"` // only for the duration of a replay: another login of its name replaces it, unless it is connected
}

// RemovedDevice is the answer to DELETE /v1/devices/{name}.
type RemovedDevice struct {
	Name string `json:"name"`
}

var wearablesTopic = topic[Devices]{listDevices.untyped, addDevice.untyped, removeDevice.untyped}

var (
	listDevices = plainList[DevicesAnswer](RightOwner, spec{
		method: "GET", path: "/v1/devices", id: "listDevices",
		summary: "List wearables", gives: "The wearables",
	}, Devices.Devices)

	addDevice = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/devices", id: "addDevice", made: true,
		summary: "Create credentials for a wearable", gives: "The credentials to enter into it, shown only once",
	}, Devices.AddLogin)

	removeDevice = jsonRoute(RightOwner, spec{
		method: "DELETE", path: "/v1/devices/{name}", id: "removeDevice",
		summary: "Revoke the credentials of a wearable", gives: "The removed wearable; its memories stay",
	}, func(s Devices, ctx context.Context, in byName) (RemovedDevice, error) {
		return RemovedDevice(in), s.RemoveDevice(ctx, in.Name)
	})
)

func (r *AddDeviceRequest) check() error {
	if wire.CheckDevice(r.Name) != nil {
		return kindInvalid.problem("name", "name: want 1 to 32 of a-z, 0-9 and - (not first or last), because it is part of a topic")
	}
	return nil
}

// Devices lists wearables.
func (c *Client) Devices(ctx context.Context) ([]Device, error) {
	return items(ctx, c, listDevices, none{})
}

// AddDevice makes credentials, which are returned only this once.
func (c *Client) AddDevice(ctx context.Context, name string) (DeviceCredentials, error) {
	return c.AddLogin(ctx, AddDeviceRequest{Name: name})
}

// AddLogin makes credentials for a wearable or other software, which are returned
// only this once.
func (c *Client) AddLogin(ctx context.Context, r AddDeviceRequest) (DeviceCredentials, error) {
	return call(ctx, c, addDevice, r)
}

// RemoveDevice ends a device's credentials.
func (c *Client) RemoveDevice(ctx context.Context, name string) (RemovedDevice, error) {
	return call(ctx, c, removeDevice, byName{name})
}
