package cli

import (
	"fmt"
	"net"
	"net/url"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// EveryAddress is a broker's URL for a person. One that listens on all addresses of the machine has
// none in it that a wearable could use.
func EveryAddress(broker string) string {
	if u, err := url.Parse(broker); err == nil && net.ParseIP(u.Hostname()).IsUnspecified() {
		return u.Scheme + "://*:" + u.Port() + ", any address of this machine"
	}
	return broker
}

// HasRoom returns memory.ErrNoSpace where the node takes nothing in, as its disk is under
// its reserve.
func HasRoom(s *serve.Status) error {
	if s.Disk.Free >= s.Disk.Reserve {
		return nil
	}
	return fmt.Errorf("%w: %s free, the reserve is %s", memory.ErrNoSpace, Size(s.Disk.Free), Size(s.Disk.Reserve))
}
