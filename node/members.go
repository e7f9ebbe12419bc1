package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// platformMark stands between a device's name and what it runs on, where a log
// or a pairing holds both: no name has a zero byte in it.
const platformMark = "\x00"

// called is what this device is to the wearer's others: its name and what it
// runs on.
func called() string {
	name, err := os.Hostname()
	platform := platformMark + runtime.GOOS + "/" + runtime.GOARCH
	if err != nil || strings.Contains(name, platformMark) || len(name)+len(platform) > memory.MaxName {
		name = ""
	}
	return name + platform
}

// nameAndPlatform are the parts of what [called] gives; the second is empty
// where it was not said.
func nameAndPlatform(called string) (name, platform string) {
	name, platform, _ = strings.Cut(called, platformMark)
	return name, platform
}

// Members implements serve.Syncer.
func (n *Node) Members(ctx context.Context) ([]serve.Member, error) {
	r, err := n.replica()
	if err != nil {
		return nil, err
	}
	members, err := r.Members(ctx)
	if err != nil {
		return nil, err
	}
	heard, err := r.Heard(ctx)
	if err != nil {
		return nil, err
	}
	o, release, err := n.use()
	if err != nil {
		return nil, err
	}
	defer release()
	out := []serve.Member{}
	for _, m := range members {
		text, err := replica.OpenName(&m, o.ring.Space(), ringKeys{o.ring}.Epoch)
		if err != nil {
			return nil, err
		}
		s := serve.Member{ID: m.ID, Role: m.Role.String(), Here: m.ID == o.ring.Member(), LastHeard: heard[m.ID]}
		s.Name, s.Platform = nameAndPlatform(text)
		out = append(out, s)
	}
	return out, nil
}

// Rotate implements serve.Rotator.
func (n *Node) Rotate(ctx context.Context) (serve.Rotated, error) {
	r, err := n.replica()
	if err != nil {
		return serve.Rotated{}, err
	}
	epoch, err := r.Rotate(ctx)
	if errors.Is(err, envelope.ErrRule) {
		err = fmt.Errorf("%w: %v", serve.ErrConflict, err)
	}
	return serve.Rotated{Epoch: uint64(epoch)}, err
}
