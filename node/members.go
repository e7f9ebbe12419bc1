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

// members gives those of the space, none where it syncs with nobody.
func (o *session) members(ctx context.Context) ([]envelope.Member, error) {
	if r := o.replica(); r != nil {
		return r.Members(ctx)
	}
	return nil, nil
}

// Members implements serve.Membership.
func (n *Node) Members(ctx context.Context) ([]serve.Member, error) {
	r, err := n.replica()
	if err != nil {
		return nil, err
	}
	members, err := r.Members(ctx)
	if err != nil {
		return nil, err
	}
	contacts, err := r.Contacts(ctx)
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
		s := serve.Member{ID: m.ID, Role: m.Role.String(), Here: m.ID == o.ring.Member(),
			Added: contacts[m.ID].Added, LastHeard: contacts[m.ID].Heard}
		s.Name, s.Platform = nameAndPlatform(text)
		out = append(out, s)
	}
	return out, nil
}

// Rotate implements serve.Membership.
func (n *Node) Rotate(ctx context.Context) (serve.Rotated, error) {
	r, err := n.replica()
	if err != nil {
		return serve.Rotated{}, err
	}
	epoch, err := r.Rotate(ctx)
	return serve.Rotated{Epoch: uint64(epoch)}, changeError(ctx, err)
}

// changeError is an error of a change to who belongs to the space. Such a change
// is nothing until the relay has it: what is no rule's is the relay's, or the
// way's to it, but for what is of this node.
func changeError(ctx context.Context, err error) error {
	for _, own := range []error{replica.ErrClosed, memory.ErrLocked, memory.ErrNoSpace, memory.ErrDamaged} {
		if errors.Is(err, own) {
			return err
		}
	}
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.Is(err, envelope.ErrRule):
		return fmt.Errorf("%w: %v", serve.ErrConflict, err)
	}
	return fmt.Errorf("%w: nothing was changed: %v", serve.ErrRelay, err)
}
