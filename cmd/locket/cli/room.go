package cli

import (
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// HasRoom returns memory.ErrNoSpace where the node takes nothing in, as its disk is under
// its reserve.
func HasRoom(s *serve.Status) error {
	if s.Disk.Free >= s.Disk.Reserve {
		return nil
	}
	return fmt.Errorf("%w: %s free, the reserve is %s", memory.ErrNoSpace, Size(s.Disk.Free), Size(s.Disk.Reserve))
}
