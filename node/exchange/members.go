package exchange

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// platformMark separates a device's name from its platform in a log or a pairing. No name
// contains a zero byte.
const platformMark = "\x00"

// DeviceName returns what the wearer's other devices call this one: its name and its
// platform.
func DeviceName() string {
	name, err := os.Hostname()
	platform := platformMark + runtime.GOOS + "/" + runtime.GOARCH
	if err != nil || strings.Contains(name, platformMark) || len(name)+len(platform) > memory.MaxName {
		name = ""
	}
	return name + platform
}

// nameAndPlatform splits the result of [DeviceName]. The platform is empty if it is not
// there.
func nameAndPlatform(called string) (name, platform string) {
	name, platform, _ = strings.Cut(called, platformMark)
	return name, platform
}

// SpaceMembers returns the members of the space, or none if the node syncs with nobody.
func (sy *Syncing) SpaceMembers(ctx context.Context) ([]envelope.Member, error) {
	if r := sy.Replica(); r != nil {
		return r.Members(ctx)
	}
	return nil, nil
}

func (sc Syncer) Members(ctx context.Context) ([]serve.Member, error) {
	_, r, err := sc.replica()
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
	nearby, err := sc.lanDevices(ctx)
	if err != nil {
		return nil, err
	}
	sy, release, err := sc.of.Use()
	if err != nil {
		return nil, err
	}
	defer release()
	out := []serve.Member{}
	for _, m := range members {
		text, err := replica.OpenName(&m, sy.c.Ring.Space(), Keys{sy.c.Ring}.Epoch)
		if err != nil {
			return nil, err
		}
		c := contacts[m.ID]
		s := serve.Member{ID: m.ID, Role: m.Role.String(), Here: m.ID == sy.c.Ring.Member(), Added: c.Added, LastHeard: c.Heard, Sent: c.Reach.Own}
		if s.Name, s.Platform = nameAndPlatform(text); !s.Here {
			s.Reach = reachOf(&c.Reach, nearby[m.ID])
		}
		out = append(out, s)
	}
	return out, nil
}

// lanDevices returns the devices that this one met in its network, by their ids.
func (sc Syncer) lanDevices(ctx context.Context) (map[memory.MemberID]*serve.Relay, error) {
	relays, err := sc.Relays(ctx)
	out := map[memory.MemberID]*serve.Relay{}
	for i, r := range relays {
		if r.Kind == serve.RelayPeer && !r.Synced.IsZero() {
			out[r.Member] = &relays[i]
		}
	}
	return out, err
}

// reachOf returns what a member has: the later of its own statement and what was seen
// when this device met it. It returns nil if there is neither.
func reachOf(said *replica.Reach, met *serve.Relay) *serve.Reach {
	if met != nil && met.Synced.After(said.At) {
		behind := min(uint64(met.Lacks), said.Others)
		return &serve.Reach{Has: said.Others - behind, Behind: behind, At: met.Synced, By: serve.ReachMet}
	}
	if said.At.IsZero() {
		return nil
	}
	return &serve.Reach{Has: said.Confirmed, Behind: said.Others - said.Confirmed, At: said.At, By: serve.ReachSaid}
}

func (sc Syncer) Rotate(ctx context.Context) (serve.Rotated, error) {
	_, r, err := sc.replica()
	if err != nil {
		return serve.Rotated{}, err
	}
	epoch, err := r.Rotate(ctx)
	return serve.Rotated{Epoch: uint64(epoch)}, ChangeError(ctx, err)
}

// ChangeError returns the error of a change of the members. Such a change does not count
// before the relay has it. So an error that no rule explains comes from the relay or the
// network, unless it is one of this node's own.
func ChangeError(ctx context.Context, err error) error {
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

func (sc Syncer) RemoveMember(ctx context.Context, id memory.MemberID, phrase serve.Secret) error {
	sy, r, err := sc.replica()
	if err != nil {
		return err
	}
	if id == sy.c.Public.Member() {
		return fmt.Errorf("%w: a device can't remove itself", serve.ErrConflict)
	}
	var root envelope.Signer
	if phrase != "" {
		if err := sy.c.Public.CheckPhrase(string(phrase)); err != nil {
			return fmt.Errorf("%w: phrase: %v", memory.ErrInvalid, err)
		}
		rec, err := keyring.Recover(string(phrase))
		if err != nil {
			return fmt.Errorf("%w: phrase: %v", memory.ErrInvalid, err)
		}
		defer rec.Zero()
		root = func(domain string, msg []byte) ([]byte, error) { return rec.Sign(domain, msg), nil }
	}
	// What the member has sent so far counts, so it is fetched first. A relay that lies
	// about that, or accepts nothing from this device, can't keep the member from being
	// removed.
	if err := r.Sync(ctx); err != nil {
		sy.c.Log.Warn("remove a device: sync failed before", "error", err)
	}
	return ChangeError(ctx, r.RemoveMember(ctx, id, root))
}
