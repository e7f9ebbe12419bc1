package cli

import (
	"fmt"
	"net"
	"net/url"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// EveryAddress returns a broker's URL for a person. The URL of a broker that listens on all
// addresses of the machine contains none that a wearable could use.
func EveryAddress(broker string) string {
	if u, err := url.Parse(broker); err == nil && net.ParseIP(u.Hostname()).IsUnspecified() {
		return u.Scheme + "://*:" + u.Port() + ", any address of this machine"
	}
	return broker
}

// CheckDiskSpace returns memory.ErrNoSpace if the node accepts no events because its disk has less free
// space than the reserve.
func CheckDiskSpace(s *serve.Status) error {
	if s.Disk.Free >= s.Disk.Reserve {
		return nil
	}
	return fmt.Errorf("%w: %s free, the reserve is %s", memory.ErrNoSpace, Size(s.Disk.Free), Size(s.Disk.Reserve))
}
