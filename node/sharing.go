package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/exchange"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/remote"
)

// sharesDir has a folder for each projection and feed.
const sharesDir = "shares"

// sharesMeta is where the records of projections and feeds are kept.
const sharesMeta = "shares"

// Limits of a share that says nothing.
const (
	sharedHits = 50 // with a query
	sharedAll  = share.MaxCopies
)

// sharing gives the open node's, for one call: the context ends with the call's
// and when the node is locked, which waits for release.
func (n *Node) sharing(ctx context.Context) (s *share.Sharing, o *session, shareCtx context.Context, release func(), err error) {
	o, unuse, err := n.use()
	if err != nil {
		return nil, nil, nil, nil, err
	}
	defer unuse()
	if !o.sync.HasRelay() {
		return nil, nil, nil, nil, exchange.ErrNoRelay
	}
	if s, err = n.openSharing(o); err != nil {
		return nil, nil, nil, nil, err
	}
	shareCtx, release = o.life.Enter(ctx)
	return s, o, shareCtx, release, nil
}

func (n *Node) openSharing(o *session) (*share.Sharing, error) {
	o.shareMu.Lock()
	defer o.shareMu.Unlock()
	if o.shares != nil {
		return o.shares, nil
	}
	key, ok := o.ring.Key(share.KeyName)
	if !ok {
		made := seal.NewKey()
		defer made.Zero()
		if err := o.ring.SetKey(share.KeyName, made); err != nil {
			return nil, err
		}
		key, _ = o.ring.Key(share.KeyName)
	}
	from := shareSource{n, o}
	relay, address := o.sync.Relay()
	o.shares = share.New(share.Config{Dir: n.path(sharesDir), Key: key, Recovery: o.ring.Public().Recovery, Source: from, Catalog: from, Inbox: from, Bring: o.sync.Bring,
		Wearer: n.cfg.Wearer, Relay: relay, Address: address, Invite: n.cfg.Sync.Invite, HTTP: n.http,
		Reserve: uint64(n.cfg.Disk.Reserve), Now: n.now, Log: n.log})
	return o.shares, nil
}

// tendEvery is how often what is shared is looked after.
const tendEvery = time.Minute

// maintain looks after what is shared until the node is locked: what expires is
// revoked, what was erased goes, feeds are filled, and workers heard. The node's
// lock is held.
func (n *Node) maintain(o *session) {
	if !o.sync.HasRelay() || o.tends {
		return
	}
	o.tends = true
	o.life.Start(func(ctx context.Context) {
		for wait.For(ctx, tendEvery) {
			if err := n.tendOnce(ctx, o); err != nil && ctx.Err() == nil {
				n.log.Warn("shares and grants: will be tried again", "error", err)
			}
		}
	})
}

func (n *Node) tendOnce(ctx context.Context, o *session) error {
	s, err := n.openSharing(o)
	if err != nil {
		return err
	}
	_, err = s.TendFeeds(ctx)
	return errors.Join(s.Maintain(ctx), err)
}

// shareSource is share.Source and share.Catalog over an open node.
type shareSource struct {
	n *Node
	o *session
}

// Choose implements share.Source.
func (s shareSource) Choose(ctx context.Context, c share.Criteria) (out []memory.Memory, err error) {
	limit := c.Limit
	if c.Query == "" {
		if limit == 0 {
			limit = sharedAll
		}
		err := s.o.store.View(ctx, func(tx *store.Tx) error {
			for m, err := range tx.Memories(store.Filter{Types: c.Types, States: []memory.State{memory.Active}, Since: c.Since, Until: c.Until}) {
				if err != nil {
					return err
				}
				if c.Fits(m) {
					if out = append(out, *m); len(out) == limit {
						return nil
					}
				}
			}
			return nil
		})
		return out, err
	}
	if limit == 0 {
		limit = sharedHits
	}
	return s.find(ctx, &c, limit)
}

// weak is the part of the best score below which a hit is not shared: it has
// little to do with what was asked.
const weak = 0.4

// find asks the index; nothing that it is unsure of is shared.
func (s shareSource) find(ctx context.Context, c *share.Criteria, limit int) (out []memory.Memory, err error) {
	found, err := s.o.engine.Search(ctx, recall.Query{Text: c.Query, Now: s.n.now(), Zone: s.n.zone.String(), Wearer: s.n.cfg.Wearer,
		K: min(4*limit, recall.MaxK), Types: c.Types, Kinds: []recall.Kind{recall.Memory}})
	if err != nil || found.Confidence < recall.Unsure {
		return nil, err
	}
	err = s.o.store.View(ctx, func(tx *store.Tx) error {
		for _, h := range found.Hits {
			if h.Score < weak*found.Hits[0].Score || len(out) == limit {
				return nil
			}
			m, _, err := engine.Whole(tx, h.ID)
			if errors.Is(err, memory.ErrNotFound) || err == nil && m.State == memory.Erased {
				continue
			}
			if err != nil {
				return err
			}
			if c.Fits(m) {
				out = append(out, *m)
			}
		}
		return nil
	})
	return out, err
}

// Vocabulary implements share.Source.
func (s shareSource) Vocabulary(ctx context.Context) (v share.Vocabulary, err error) {
	err = s.o.store.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			v.Add(m)
		}
		for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
			if err != nil {
				return err
			}
			v.Names, v.Places = append(v.Names, u.Speaker), append(v.Places, u.Place)
		}
		return nil
	})
	slices.Sort(v.Names)
	slices.Sort(v.Places)
	v.Names, v.Places = slices.Compact(v.Names), slices.Compact(v.Places)
	return v, err
}

// Records implements share.Catalog.
func (s shareSource) Records(ctx context.Context) (list []share.Record, err error) {
	err = s.o.store.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Meta(sharesMeta, &list)
		return err
	})
	return list, err
}

// Keep implements share.Catalog.
func (s shareSource) Keep(ctx context.Context, list []share.Record) error {
	return s.o.engine.Commit(ctx, func(tx *store.Tx) error { return tx.PutMeta(sharesMeta, list) })
}

// shareError says in serve's words what went wrong.
func shareError(err error) error {
	if errors.Is(err, remote.ErrInvite) {
		return fmt.Errorf("%w: what this device shares has an account of its own at the relay, which needs an invitation of its own in sync.invite: %w", serve.ErrConflict, err)
	}
	for _, p := range []struct{ is, as error }{
		{share.ErrChanged, serve.ErrConflict}, {share.ErrRevoked, serve.ErrConflict}, {share.ErrNothing, memory.ErrNotFound},
		{share.ErrNoRelay, serve.ErrUnsupported}, {remote.ErrQuota, serve.ErrConflict},
	} {
		if errors.Is(err, p.is) && !errors.Is(err, p.as) {
			return fmt.Errorf("%w: %w", p.as, err)
		}
	}
	return err
}

func wishOf(r *serve.ShareRequest) (w share.ShareSpec, err error) {
	w = share.ShareSpec{Title: r.Title, To: r.To, Expires: r.Expires, Confirm: r.Confirm,
		Criteria: share.Criteria{Query: r.Query, Types: r.Types, Tags: r.Tags, Since: r.Since, Until: r.Until, Most: memory.Personal, Limit: r.Limit}}
	if r.Sensitivity != nil {
		w.Criteria.Most = *r.Sensitivity
	}
	w.Redact, err = share.ParseRedaction(r.Redact)
	w.Redact.Quotes = r.Quotes
	return w, err
}

// PreviewShare implements serve.Sharer.
func (n *Node) PreviewShare(ctx context.Context, r serve.ShareRequest) (v serve.SharePreview, err error) {
	s, o, ctx, release, err := n.sharing(ctx)
	if err != nil {
		return v, err
	}
	defer release()
	w, err := wishOf(&r)
	if err != nil {
		return v, err
	}
	p, err := s.Preview(ctx, w)
	if err != nil {
		return v, shareError(err)
	}
	v = serve.SharePreview{Readers: readers(p.Parties), LeftOut: p.LeftOut, Confirm: p.Confirm}
	err = o.store.View(ctx, func(tx *store.Tx) error {
		for _, c := range p.Copies {
			m, err := engine.Live(tx, c.Of)
			if err != nil {
				return err
			}
			shown := serve.SharedCopy{Of: c.Of, Type: c.Candidate.Type, Text: c.Candidate.Text}
			if m.Text != shown.Text {
				shown.Was = m.Text
			}
			v.Memories = append(v.Memories, shown)
		}
		return nil
	})
	return v, err
}

func readers(ps []share.Party) []serve.ShareReader {
	out := []serve.ShareReader{}
	for _, p := range ps {
		out = append(out, serve.ShareReader{Name: p.Name, Member: p.Member, Words: share.Words(p.Key), Added: p.Added, Removed: p.Removed})
	}
	return out
}

func sharedAs(r *share.Record) serve.Share {
	return serve.Share{ID: r.Space, Title: r.Title, Link: r.Link().String(), Query: r.Criteria.Query, Redacted: r.Redact.List(), Memories: r.Copies,
		Readers: readers(r.Parties), Created: r.Created, Updated: r.Updated, Expires: r.Expires, Revoking: r.Revoking, Revoked: r.Revoked}
}

// CreateShare implements serve.Sharer.
func (n *Node) CreateShare(ctx context.Context, r serve.ShareRequest) (v serve.Share, err error) {
	s, _, ctx, release, err := n.sharing(ctx)
	if err != nil {
		return v, err
	}
	defer release()
	w, err := wishOf(&r)
	if err != nil {
		return v, err
	}
	rec, err := s.Create(ctx, w)
	if err != nil {
		return v, shareError(err)
	}
	return sharedAs(&rec), nil
}

// Shares implements serve.Sharer.
func (n *Node) Shares(ctx context.Context) ([]serve.Share, error) {
	s, _, ctx, release, err := n.sharing(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	records, err := s.Records(ctx, share.Projection)
	out := []serve.Share{}
	for i := range records {
		out = append(out, sharedAs(&records[i]))
	}
	return out, err
}

// Share implements serve.Sharer.
func (n *Node) Share(ctx context.Context, id string) (v serve.SharedView, err error) {
	s, _, ctx, release, err := n.sharing(ctx)
	if err != nil {
		return v, err
	}
	defer release()
	rec, seen, err := s.Show(ctx, id)
	if err != nil {
		return v, shareError(err)
	}
	return serve.SharedView{Share: sharedAs(&rec), Memories: serve.Some(seen)}, nil
}

// UpdateShare implements serve.Sharer.
func (n *Node) UpdateShare(ctx context.Context, id string) (v serve.ShareUpdated, err error) {
	s, _, ctx, release, err := n.sharing(ctx)
	if err != nil {
		return v, err
	}
	defer release()
	rec, ch, err := s.Update(ctx, id)
	if err != nil {
		return v, shareError(err)
	}
	return serve.ShareUpdated{Share: sharedAs(&rec), Added: ch.Added, Removed: ch.Removed}, nil
}

// RevokeShare implements serve.Sharer.
func (n *Node) RevokeShare(ctx context.Context, id, reader string) (v serve.Share, err error) {
	s, _, ctx, release, err := n.sharing(ctx)
	if err != nil {
		return v, err
	}
	defer release()
	rec, err := s.Revoke(ctx, id, reader)
	if err != nil {
		return v, shareError(err)
	}
	return sharedAs(&rec), nil
}

// forgetShared takes what is forgotten out of the copies that are kept for
// readers and workers. Where that fails it is done when they are looked after
// the next time: the originals are gone, by which it is known.
func (n *Node) forgetShared(ctx context.Context, o *session) {
	if !o.sync.HasRelay() {
		return
	}
	s, err := n.openSharing(o)
	if err == nil {
		err = s.Forget(ctx)
	}
	if err != nil {
		n.log.Warn("what is shared still holds what was forgotten: it will be tried again", "error", err)
	}
}
