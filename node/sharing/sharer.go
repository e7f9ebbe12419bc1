package sharing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/remote"
)

// sharesMeta is where the records of projections and feeds are kept.
const sharesMeta = "shares"

// Default limits of a share.
const (
	sharedHits = 50 // with a query
	sharedAll  = share.MaxCopies
)

// shareError translates an error into those of package serve.
func shareError(err error) error {
	if errors.Is(err, remote.ErrInvite) {
		return fmt.Errorf("%w: what this device shares has a separate account at the relay, which needs an invitation of its own in sync.invite: %w", serve.ErrConflict, err)
	}
	for _, p := range []struct{ is, as error }{
		{share.ErrChanged, serve.ErrConflict}, {share.ErrRevoked, serve.ErrConflict}, {share.ErrNothing, memory.ErrNotFound},
		{share.ErrNoRelay, serve.ErrUnsupported}, {remote.ErrQuota, serve.ErrConflict},
		{context.DeadlineExceeded, serve.ErrRelay}, // nothing came for too long
	} {
		if errors.Is(err, p.is) && !errors.Is(err, p.as) {
			return fmt.Errorf("%w: %w", p.as, err)
		}
	}
	if _, unreached := errors.AsType[*remote.NetworkError](err); (unreached || remote.IsFault(err)) && !errors.Is(err, serve.ErrRelay) {
		return fmt.Errorf("%w: %w", serve.ErrRelay, err)
	}
	return err
}

func wishOf(r *serve.ShareRequest) (w share.ShareSpec, err error) {
	w = share.ShareSpec{Title: r.Title, To: r.To, Purpose: r.Purpose, Expires: r.Expires, Confirm: r.Confirm,
		Criteria: share.Criteria{Query: r.Query, Types: r.Types, Tags: r.Tags, Since: r.Since, Until: r.Until, Most: memory.Personal, Limit: r.Limit, Without: r.Without}}
	if len(w.Criteria.Types) == 0 {
		w.Criteria.Types = nil // the store would take an empty list to mean no types
	}
	if r.Sensitivity != nil {
		w.Criteria.Most = *r.Sensitivity
	}
	w.Redact, err = share.ParseRedaction(r.Redact)
	w.Redact.Quotes, w.Redact.AtLeast = r.Quotes, r.AtLeast
	return w, err
}

func (sr Sharer) PreviewShare(ctx context.Context, r serve.ShareRequest) (serve.SharePreview, error) {
	return during(ctx, sr, needed, func(ctx context.Context, s *share.Sharing, sh *Sharing) (v serve.SharePreview, err error) {
		w, err := wishOf(&r)
		if err != nil {
			return v, err
		}
		p, err := s.Preview(ctx, w)
		if err != nil {
			return v, err
		}
		return sh.toAPI(ctx, &p)
	})
}

// toAPI returns a preview in the form in which it is served.
func (sh *Sharing) toAPI(ctx context.Context, p *share.Preview) (v serve.SharePreview, err error) {
	v = serve.SharePreview{Readers: readers(p.Parties), LeftOut: p.LeftOut, Few: p.Few, Risks: []serve.ShareRisk{}, Confirm: p.Confirm}
	for _, risk := range p.Risks {
		v.Risks = append(v.Risks, serve.ShareRisk{Kind: string(risk.Kind), Of: risk.Of, What: risk.What})
	}
	for _, why := range slices.Sorted(maps.Keys(p.Held)) {
		v.Held = append(v.Held, serve.HeldBack{Why: why, Memories: p.Held[why]})
	}
	err = sh.c.Engine.View(ctx, func(tx *store.Tx) error {
		for _, c := range p.Copies {
			m, err := engine.Live(tx, c.Of)
			if err != nil {
				return err
			}
			shown := serve.SharedCopy{Of: c.Of, Type: c.Candidate.Type, Text: c.Candidate.Text, Copy: c.Candidate}
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
	v := serve.Share{ID: r.Space, Title: r.Title, Link: r.Link().String(), Query: r.Criteria.Query, Redacted: r.Redact.List(), Memories: r.Copies,
		Readers: readers(r.Parties), Created: r.Created, Updated: r.Updated, Expires: r.Expires, Revoking: r.Revoking, Revoked: r.Revoked}
	if r.By != nil {
		v.App, v.AppKey = r.By.App, r.By.Key
	}
	return v
}

func (sr Sharer) CreateShare(ctx context.Context, r serve.ShareRequest) (serve.Share, error) {
	return during(ctx, sr, needed, func(ctx context.Context, s *share.Sharing, _ *Sharing) (v serve.Share, err error) {
		w, err := wishOf(&r)
		if err != nil {
			return v, err
		}
		if app := serve.Asking(ctx); app != nil {
			w.By, w.BeforeSharing = &share.Author{App: app.App, Key: app.Key, Scope: app.Scope}, app.BeforeSharing
		}
		rec, err := s.Create(ctx, w)
		return sharedAs(&rec), err
	})
}

func (sr Sharer) Shares(ctx context.Context) ([]serve.Share, error) {
	return during(ctx, sr, needed, func(ctx context.Context, s *share.Sharing, _ *Sharing) ([]serve.Share, error) {
		records, err := s.Records(ctx, share.Projection)
		out := []serve.Share{}
		for i := range records {
			out = append(out, sharedAs(&records[i]))
		}
		return out, err
	})
}

func (sr Sharer) Share(ctx context.Context, id string) (serve.SharedView, error) {
	return during(ctx, sr, needed, func(ctx context.Context, s *share.Sharing, _ *Sharing) (serve.SharedView, error) {
		rec, seen, err := s.Show(ctx, id)
		return serve.SharedView{Share: sharedAs(&rec), Memories: serve.NonNil(seen)}, err
	})
}

func (sr Sharer) ShareLog(ctx context.Context) (v serve.ShareLog, err error) {
	sh, release, err := sr.of.Use() // apps are asked about even without a relay
	if err != nil {
		return v, err
	}
	defer release()
	list, err := sh.deeds(ctx)
	v.Deeds = []serve.ShareDeed{}
	for _, d := range list {
		v.Deeds = append(v.Deeds, serve.ShareDeed{At: d.At, Did: d.Did, Share: d.Share, Title: d.Title, To: d.To, Copies: d.Copies, Added: d.Added, Removed: d.Removed, Why: d.Why, By: d.By})
	}
	return v, err
}

func (sr Sharer) UpdateShare(ctx context.Context, id string) (serve.ShareUpdated, error) {
	return during(ctx, sr, needed, func(ctx context.Context, s *share.Sharing, _ *Sharing) (serve.ShareUpdated, error) {
		rec, ch, err := s.Update(ctx, id)
		return serve.ShareUpdated{Share: sharedAs(&rec), Added: ch.Added, Removed: ch.Removed}, err
	})
}

func (sr Sharer) RevokeShare(ctx context.Context, id, reader string) (serve.Share, error) {
	return during(ctx, sr, needed, func(ctx context.Context, s *share.Sharing, _ *Sharing) (serve.Share, error) {
		rec, err := s.Revoke(ctx, id, reader)
		return sharedAs(&rec), err
	})
}
