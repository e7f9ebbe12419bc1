package community

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/envelope"
)

// Invite admits somebody: by NAME=KEY, or by the name of somebody who waits together with
// the words of their key, so that the key is the one that was looked at. For a member who
// may not admit people it makes a proposal, which waits for an owner or moderator.
func (c *Communities) Invite(ctx context.Context, id string, r serve.CommunityInvite) (serve.CommunityView, error) {
	return c.with(ctx, id, func(sp *space, v *serve.CommunityView) error {
		name, key, named := strings.Cut(r.Who, "=")
		name, err := called("name", name)
		if err != nil {
			return err
		}
		if !named {
			if r.Words == "" {
				return fmt.Errorf("%w: words: say those of the key of %q, after comparing them with %[2]q", memory.ErrInvalid, name)
			}
			waiting := slices.DeleteFunc(slices.Clone(v.Waiting), func(m serve.CommunityMember) bool {
				return m.Name != name || m.Words != strings.Join(strings.Fields(r.Words), " ")
			})
			if err := one(len(waiting), "who waits as", name); err != nil {
				return err
			}
			key = waiting[0].Key
		}
		q, err := ReadKey(key)
		if err != nil {
			return fmt.Errorf("of %q: %w", name, err)
		}
		if words := strings.Join(strings.Fields(r.Words), " "); words != "" && words != share.Words(q.Key) {
			return fmt.Errorf("%w: words: the key of %q has others: %s", memory.ErrInvalid, name, share.Words(q.Key))
		}
		m := envelope.Member{ID: q.Member(sp.id), Key: q.Key, Recipient: q.Recipient, Role: envelope.Writer}
		switch {
		case slices.ContainsFunc(v.Members, func(o serve.CommunityMember) bool { return o.Name == name || o.Member == m.ID }):
			return fmt.Errorf("%w: %q, or the owner of that key, is a member already", serve.ErrConflict, name)
		case len(v.Members) >= envelope.MaxMembers:
			return fmt.Errorf("%w: it has %d members, and no room for more", serve.ErrConflict, len(v.Members))
		case r.Moderator && v.Role != roleOwner:
			return forbidden("only the owner appoints moderators")
		case v.Role == roleMember:
			return sp.note(ctx, noteCandidate, name, strings.Join(strings.Fields(key), ""))
		case r.Moderator:
			m.Role = envelope.Owner
		}
		sp.changed = true
		return sp.replica.AddMember(ctx, m, name)
	})
}

// ReadKey parses the key of somebody who is to be admitted, or returns memory.ErrInvalid.
func ReadKey(text string) (envelope.Request, error) {
	q, err := envelope.ParseRequest(text)
	if err == nil {
		_, err = seal.ParseRecipient(q.Recipient)
	}
	if err != nil {
		return envelope.Request{}, fmt.Errorf("%w: key: %v", memory.ErrInvalid, err)
	}
	return q, nil
}

// one returns an error if a name means nobody, or more than one.
func one(found int, what, name string) error {
	switch found {
	case 0:
		return fmt.Errorf("%s %.40q: %w", what, name, memory.ErrNotFound)
	case 1:
		return nil
	}
	return fmt.Errorf("%s %.40q: %w", what, name, memory.ErrAmbiguous)
}

// Remove removes an item, a question, an answer or a member. What this member said is
// erased; for anything else an owner or moderator and a reason are needed. Only the owner
// removes a moderator, with the signature of the owner's root, and only the owner removes
// a removal, so that it no longer counts.
func (c *Communities) Remove(ctx context.Context, id string, r serve.CommunityRemoval, root ed25519.PrivateKey) (serve.CommunityView, error) {
	return c.with(ctx, id, func(sp *space, v *serve.CommunityView) error {
		members := slices.DeleteFunc(slices.Clone(v.Members), func(m serve.CommunityMember) bool { return m.Name != r.What && !hasPrefix(m.Member.String(), r.What) })
		said, err := sp.activeMemories(ctx)
		if err != nil {
			return err
		}
		said = slices.DeleteFunc(said, func(m memory.Memory) bool { return !namesItem(r.What, m.ID) })
		if err := one(len(members)+len(said), "member or item", r.What); err != nil {
			return err
		}
		moderates := v.Role != roleMember
		switch {
		case len(said) == 1 && sp.me.OwnsLine(said[0].ID):
			return sp.commitAssertions(ctx, memory.Assertion{Memory: said[0].ID, Act: memory.ActErase})
		case !moderates:
			return forbidden("only the owner and moderators remove what others said")
		case len(said) == 1 && said[0].Metadata[metaKind] == noteRemoval && v.Role != roleOwner:
			return forbidden("only the owner undoes a removal")
		case strings.TrimSpace(r.Reason) == "":
			return fmt.Errorf("%w: reason: a removal needs one, which all members can read", memory.ErrInvalid)
		case len(said) == 1:
			return sp.note(ctx, noteRemoval, said[0].ID.String(), r.Reason)
		case members[0].You:
			return fmt.Errorf("%w: leave the community instead", memory.ErrInvalid)
		case members[0].Role != roleMember && v.Role != roleOwner:
			return forbidden("only the owner removes a moderator")
		}
		return sp.putOutFor(ctx, members[0].Member, r.Reason, root)
	})
}

// putOutFor removes a member with a reason. The reason is stored first, so that there is
// no removal without one, even after a crash.
func (sp *space) putOutFor(ctx context.Context, whom memory.MemberID, reason string, root ed25519.PrivateKey) error {
	if _, err := noted(noteRemoval, whom.String(), reason); err != nil {
		return err
	}
	sp.record.Reasons = map[memory.MemberID]string{whom: reason}
	if err := sp.save(ctx); err != nil {
		return err
	}
	if err := sp.removeMember(ctx, whom, root); err != nil {
		return err
	}
	return sp.sayReasons(ctx) // in the epoch that begins with the removal
}

// sayReasons publishes why members were removed, and drops the reasons for those who were
// not.
func (sp *space) sayReasons(ctx context.Context) error {
	present, err := sp.replica.Members(ctx)
	if err != nil {
		return err
	}
	for id, why := range sp.record.Reasons {
		if slices.ContainsFunc(present, func(m envelope.Member) bool { return m.ID == id }) {
			continue
		}
		if err := sp.note(ctx, noteRemoval, id.String(), why); err != nil {
			return err
		}
	}
	sp.record.Reasons = nil
	return sp.save(ctx)
}

// namesItem reports whether a text is an item's id, or at least 4 characters of the part of
// the id after its author, which all items of that author share.
func namesItem(text string, id memory.ID) bool {
	return strings.EqualFold(text, id.String()) || hasPrefix(id.String()[serve.AuthorChars:], text)
}

func hasPrefix(id, text string) bool {
	return len(text) >= 4 && strings.HasPrefix(id, strings.ToLower(text))
}

// removeMember removes a member from the log, which begins an epoch.
func (sp *space) removeMember(ctx context.Context, whom memory.MemberID, root ed25519.PrivateKey) error {
	present, err := sp.replica.Members(ctx)
	if err != nil {
		return err
	}
	var sign envelope.Signer
	// Somebody whom a moderator admitted under another id is a member here, and an owner
	// in the log.
	if slices.ContainsFunc(present, func(o envelope.Member) bool { return o.ID == whom && o.Role == envelope.Owner }) {
		log, err := sp.journal.Entries(ctx)
		if err != nil {
			return err
		}
		first, err := envelope.ParseEntry(log[0])
		if err != nil {
			return err
		}
		if len(root) == 0 || !bytes.Equal(first.Root, root.Public().(ed25519.PublicKey)) {
			return forbidden("the owner puts out whom somebody appointed as a moderator")
		}
		sign = envelope.KeySigner(root)
	}
	sp.changed = true
	return sp.replica.RemoveMember(ctx, whom, sign)
}
