// Package community has spaces to which many people write: each member adds redacted copies of
// memories, under that member's own policy, and reads what the others have added.
//
// The words:
//
//   - A community is a space whose members are people. The first member of its log is its
//     owner, the log's other owners are its moderators, and its writers the members.
//   - An item is a copy that a member added. An answer is an item for a question.
//   - A note is anything else that a member says: rules, a removal with its reason, a
//     question, a proposed member, or that its author leaves.
//   - A gift is what a home stores about the items that it added at one time.
//
// The id of an item or note begins with its author's member id, and a member's statements count
// only if they are about such ids (wall). The view (see) is a pure function of the membership log
// and of all that was said.
package community

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/remote"
)

// ErrNotMember: the relay does not serve the community to this key. The key was never admitted, or
// was removed, or the community has ended; the relay does not say which.
var ErrNotMember = fmt.Errorf("%w: this key is not, or no longer, a member of the community", serve.ErrForbidden)

// owner is the owner of copies and notes, as members see them.
const owner = "shared"

// Communities manages the communities of a home, each in its own folder within the reader's folder.
// Its methods are safe for concurrent use; one runs at a time.
type Communities struct {
	Reader *share.Reader
	mu     turn
}

// Founder has what is needed to found a community.
type Founder struct {
	Root     ed25519.PrivateKey // the founder's account at the relay
	Recovery *seal.Recipient
	Relay    string // URL
	Invite   string // invitation at the relay
}

func (c *Communities) now() time.Time {
	if c.Reader.Now != nil {
		return c.Reader.Now().UTC().Truncate(time.Millisecond)
	}
	return time.Now().UTC().Truncate(time.Millisecond)
}

func (c *Communities) root() string { return filepath.Join(c.Reader.Dir, "communities") }

func (c *Communities) folder(id memory.SpaceID) string { return filepath.Join(c.root(), id.String()) }

func randomText() string { return rand.Text() }

func randomID() (id memory.ID) {
	rand.Read(id[:])
	return id
}

// called checks a name.
func called(what, name string) (string, error) {
	if name = strings.TrimSpace(name); name == "" || len(name) > memory.MaxName {
		return "", fmt.Errorf("%w: %s: %d bytes, want 1 to %d", memory.ErrInvalid, what, len(name), memory.MaxName)
	}
	return name, nil
}

// FoundCommunity founds a community. If the relay can't be reached, nothing of it is kept.
func (c *Communities) FoundCommunity(ctx context.Context, f Founder, r serve.NewCommunity) (v serve.CommunityView, err error) {
	if err := c.mu.Take(ctx); err != nil {
		return v, err
	}
	defer c.mu.give()
	name, err := c.free(ctx, r.Name)
	if err != nil {
		return v, err
	}
	d, err := c.Reader.Device()
	if err != nil {
		return v, err
	}
	defer d.Zero()
	space := memory.SpaceID(randomID())
	epoch := seal.Epochs{1: seal.NewKey()}
	defer epoch.Zero()
	d.ID = envelope.MemberOf(d.Key(), space)
	r.As = cmp.Or(r.As, roleOwner)
	if r.As, err = called("as", r.As); err != nil {
		return v, err
	}
	m := membership.NamedOwner(d, r.As, space, 1, epoch[1])
	e, err := membership.Begin(space, f.Root.Public().(ed25519.PublicKey), f.Recovery, m, d.Recipient(), epoch, c.now(), envelope.KeySigner(f.Root))
	if err != nil {
		return v, err
	}
	l := share.Link{Relay: f.Relay, Welcome: envelope.Welcome{Space: space, Genesis: e.Hash()}}
	return c.begin(ctx, l, name, e.Bytes(), true, f.Invite)
}

// Join fetches a community to which somebody admitted this home's key.
func (c *Communities) Join(ctx context.Context, link, name string) (v serve.CommunityView, err error) {
	if err := c.mu.Take(ctx); err != nil {
		return v, err
	}
	defer c.mu.give()
	l, err := share.ParseLink(link)
	if err != nil {
		return v, err
	}
	if _, err := os.Stat(c.folder(l.Space)); err == nil {
		return v, fmt.Errorf("%w: community %s is here already", serve.ErrConflict, l.Space)
	}
	if name == "" {
		name = "community " + l.Space.String()[:8]
	}
	if name, err = c.free(ctx, name); err != nil {
		return v, err
	}
	d, err := c.Reader.Device()
	if err != nil {
		return v, err
	}
	defer d.Zero()
	at, err := remote.New(l.Relay, remote.Option{HTTP: c.Reader.HTTP, Now: c.Reader.Now})
	if err != nil {
		return v, err
	}
	defer at.Close()
	entries, err := at.Space(l.Space, envelope.MemberOf(d.Key(), l.Space), d.SignRequest).Log(ctx, 0)
	switch {
	case errors.Is(err, remote.ErrForbidden) || errors.Is(err, remote.ErrNotFound):
		return v, ErrNotMember
	case err != nil:
		return v, fmt.Errorf("%w: %w", serve.ErrRelay, err)
	case len(entries) == 0 || entries[0].Hash() != l.Genesis:
		return v, fmt.Errorf("%w: the relay shows another space than the link names", serve.ErrRelay)
	}
	return c.begin(ctx, l, name, entries[0].Bytes(), false, "")
}

// free checks that no other community here has the same name, because the policy knows a community
// by its name.
func (c *Communities) free(ctx context.Context, name string) (string, error) {
	name, err := called("name", name)
	if err != nil {
		return "", err
	}
	list, err := c.list(ctx)
	if slices.ContainsFunc(list, func(o serve.CommunityHead) bool { return o.Name == name }) {
		return "", fmt.Errorf("%w: name: another community here is called %q, and your policy knows them by name", serve.ErrConflict, name)
	}
	return name, err
}

// in opens a community for a while.
func (c *Communities) in(ctx context.Context, id memory.SpaceID, do func(*space) error) error {
	sp, err := c.open(ctx, id, c.folder(id), nil, false, "")
	if err != nil {
		return err
	}
	return errors.Join(do(sp), sp.close())
}

// at finds the community that a person names, and opens it for a while. Nothing else is done with
// any community meanwhile.
func (c *Communities) at(ctx context.Context, id string, do func(*space) error) error {
	if err := c.mu.Take(ctx); err != nil {
		return err
	}
	defer c.mu.give()
	space, err := c.find(ctx, id)
	if err != nil {
		return err
	}
	return c.in(ctx, space, do)
}

// with finds a community, exchanges with the relay, calls do, sends what that said, and returns the
// result.
func (c *Communities) with(ctx context.Context, id string, do func(*space, *serve.CommunityView) error) (v serve.CommunityView, err error) {
	err = c.at(ctx, id, func(sp *space) error {
		if err := sp.sync(ctx); err != nil {
			return err
		}
		if v, _, err = sp.see(ctx); err != nil || do == nil {
			return err
		}
		if err := do(sp, &v); err != nil {
			return err
		}
		if err := sp.sync(ctx); err != nil {
			return err
		}
		v, _, err = sp.see(ctx)
		return err
	})
	return v, err
}

// Show returns what a member sees.
func (c *Communities) Show(ctx context.Context, id string) (serve.CommunityView, error) {
	return c.with(ctx, id, nil)
}

// forbidden returns the error that a role does not allow something.
func forbidden(what string) error {
	return fmt.Errorf("%w: only %s", serve.ErrForbidden, what)
}

// Rules sets the community's rules, which only the owner may do.
func (c *Communities) Rules(ctx context.Context, id, text string) (serve.CommunityView, error) {
	return c.with(ctx, id, func(sp *space, v *serve.CommunityView) error {
		if v.Role != roleOwner {
			return forbidden("only the owner sets the rules")
		}
		return sp.note(ctx, noteRules, "", text)
	})
}

// Ask asks all members a question.
func (c *Communities) Ask(ctx context.Context, id, text string) (serve.CommunityView, error) {
	return c.with(ctx, id, func(sp *space, _ *serve.CommunityView) error { return sp.note(ctx, noteQuestion, "", text) })
}

// Leave removes what this member added, and ends the community if it was founded by root, which is
// the root of the wearer's communities. If the relay no longer serves it, what was fetched is
// dropped.
func (c *Communities) Leave(ctx context.Context, id string, root ed25519.PrivateKey) error {
	var at memory.SpaceID
	_, err := c.with(ctx, id, func(sp *space, v *serve.CommunityView) error {
		at = sp.id
		if v.Role == roleOwner {
			return sp.relay.Root(root.Public().(ed25519.PublicKey), httpsig.KeySigner(root)).Space(sp.id).Delete(ctx)
		}
		said, err := sp.activeMemories(ctx)
		if err != nil {
			return err
		}
		var as []memory.Assertion
		for _, m := range said {
			// Decisions about others stay, because they are not items of this member.
			if kind := m.Metadata[metaKind]; sp.me.OwnsLine(m.ID) && kind != noteRemoval && kind != noteRules {
				as = append(as, memory.Assertion{Memory: m.ID, Act: memory.ActErase})
			}
		}
		return errors.Join(sp.commitAssertions(ctx, as...), sp.note(ctx, noteLeaving, "", "leaves"))
	})
	if errors.Is(err, ErrNotMember) {
		if err = c.mu.Take(ctx); err == nil {
			at, err = c.find(ctx, id)
			c.mu.give()
		}
	}
	if err != nil {
		return err
	}
	if err := c.mu.Take(ctx); err != nil {
		return err
	}
	defer c.mu.give()
	return c.drop(at)
}
