package community

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
)

// noFee is the text of a noteFee which says that nobody is admitted for money any more.
const noFee = "none"

// OwnedCommunity returns a community that the wearer owns, as it was fetched last. The error is
// serve.ErrForbidden if somebody else owns it, or it has ended.
func (c *Communities) OwnedCommunity(ctx context.Context, id string) (v serve.CommunityHead, err error) {
	err = c.at(ctx, id, func(sp *space) error {
		all, _, err := sp.see(ctx)
		v = all.CommunityHead
		switch {
		case err != nil:
			return err
		case v.Role != roleOwner:
			return forbidden("only the owner sells the entry")
		case !v.Ended.IsZero():
			return ErrNotMember
		}
		return nil
	})
	return v, err
}

// AnnounceFee tells the members the fee for which anybody is admitted; empty: nobody is any
// more.
func (c *Communities) AnnounceFee(ctx context.Context, id memory.SpaceID, fee string) error {
	fee = cmp.Or(fee, noFee)
	_, err := c.with(ctx, id.String(), func(sp *space, v *serve.CommunityView) error {
		switch {
		case v.Role != roleOwner:
			return forbidden("only the owner sells the entry")
		case v.Fee == fee || v.Fee == "" && fee == noFee:
			return nil
		}
		return sp.note(ctx, noteFee, "", fee)
	})
	return err
}

// Admit admits somebody who paid. The error is serve.ErrConflict if they are or were a
// member, if somebody else has the name, or if the community is full. note is called when
// nothing prevents the admission, and before the relay is told. again says that note was
// called earlier for the same payment: then an existing member was admitted by that
// payment.
func (c *Communities) Admit(ctx context.Context, id memory.SpaceID, name string, q envelope.Request, again bool, note func() error) error {
	_, err := c.with(ctx, id.String(), func(sp *space, v *serve.CommunityView) error {
		name, err := called("name", name)
		if err != nil {
			return err
		}
		m := envelope.Member{ID: q.Member(sp.id), Key: q.Key, Recipient: q.Recipient, Role: envelope.Writer}
		was, err := sp.wasMember(ctx, &m)
		in := slices.ContainsFunc(v.Members, func(o serve.CommunityMember) bool { return o.Member == m.ID })
		switch {
		case err != nil:
			return err
		case v.Role != roleOwner:
			return forbidden("only the owner sells the entry")
		case in && again:
			return nil
		case was:
			return fmt.Errorf("%w: the owner of that key is, or was, a member", serve.ErrConflict)
		case len(v.Members) >= envelope.MaxMembers:
			return fmt.Errorf("%w: it has %d members, and no room for more", serve.ErrConflict, len(v.Members))
		case slices.ContainsFunc(v.Members, func(o serve.CommunityMember) bool { return comparableName(o.Name) == comparableName(name) }):
			return fmt.Errorf("%w: another member is called %q", serve.ErrConflict, name)
		}
		if err := note(); err != nil {
			return err
		}
		sp.changed = true
		return sp.replica.AddMember(ctx, m, name)
	})
	return err
}

// comparableName returns a name in the form in which people compare names: letters of one width
// and case, and no invisible characters. Letters of other scripts that look the same stay
// different.
func comparableName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, norm.NFKC.String(name))
	return strings.Join(strings.Fields(strings.ToLower(name)), " ")
}

// wasMember reports whether the log has ever had a member's id or key.
func (sp *space) wasMember(ctx context.Context, m *envelope.Member) (bool, error) {
	entries, err := sp.journal.Entries(ctx)
	for _, b := range entries {
		e, err := envelope.ParseEntry(b)
		if err != nil {
			return false, err
		}
		if e.Member != nil && (e.Member.ID == m.ID || bytes.Equal(e.Member.Key, m.Key)) {
			return true, nil
		}
	}
	return false, err
}

// WasExpelled reports whether a key was removed from a community without having asked to
// leave, as of the last fetch.
func (c *Communities) WasExpelled(ctx context.Context, id memory.SpaceID, key []byte) (out bool, err error) {
	if err := c.mu.Take(ctx); err != nil {
		return false, err
	}
	defer c.mu.give()
	whom := envelope.MemberOf(key, id)
	err = c.in(ctx, id, func(sp *space) error {
		v, said, err := sp.see(ctx)
		if err != nil || slices.ContainsFunc(v.Members, func(o serve.CommunityMember) bool { return o.Member == whom }) {
			return err
		}
		out, err = sp.wasMember(ctx, &envelope.Member{ID: whom, Key: key})
		for i := range said {
			if authorOf(said[i].ID) == whom && said[i].Metadata[metaKind] == noteLeaving {
				out = false
			}
		}
		return err
	})
	return out, err
}

// Expel removes the member who has a key, with a reason. If the key is not a member's,
// nothing changes.
func (c *Communities) Expel(ctx context.Context, id memory.SpaceID, key []byte, reason string) error {
	whom := envelope.MemberOf(key, id)
	_, err := c.with(ctx, id.String(), func(sp *space, v *serve.CommunityView) error {
		if !slices.ContainsFunc(v.Members, func(o serve.CommunityMember) bool { return o.Member == whom }) {
			return nil
		}
		return sp.putOutFor(ctx, whom, reason, nil)
	})
	return err
}
