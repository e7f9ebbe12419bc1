package sharing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/exchange"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/replica"
)

// maxPerEvidence is how many statements a worker may make about one piece of evidence.
const maxPerEvidence = 128

func (sr Sharer) AddGrant(ctx context.Context, r serve.GrantRequest) (g serve.Grant, err error) {
	sh, rep, err := sr.replica() // without a relay nobody can be admitted
	if err != nil {
		return g, err
	}
	limits := delta.Grant{Types: r.Types, Transcribe: r.Transcribe, PerEvidence: r.PerEvidence}
	switch {
	case len(r.Types) == 0 && !r.Transcribe:
		return g, fmt.Errorf("%w: give types, or transcribe: with neither it may do nothing", memory.ErrInvalid)
	case r.PerEvidence < 0 || r.PerEvidence > maxPerEvidence:
		return g, fmt.Errorf("%w: per_evidence: %d, at most %d", memory.ErrInvalid, r.PerEvidence, maxPerEvidence)
	case len(r.Name) > memory.MaxName:
		return g, fmt.Errorf("%w: name: %d bytes, at most %d", memory.ErrInvalid, len(r.Name), memory.MaxName)
	}
	for _, t := range r.Types {
		if t == memory.Vault || !slices.Contains(memory.Types[:], t) {
			return g, fmt.Errorf("%w: types: a worker may not propose %q memories", memory.ErrInvalid, t)
		}
	}
	if r.Feed {
		return sr.addFeed(ctx, &r, limits)
	}
	if r.Recordings || r.Sensitivity != nil || !r.Since.IsZero() {
		return g, fmt.Errorf("%w: recordings, sensitivity and since are for a feed: in the wearer's space a worker gets everything", memory.ErrInvalid)
	}
	request, err := envelope.ParseRequest(r.Key)
	if err == nil {
		_, err = seal.ParseRecipient(request.Recipient)
	}
	if err != nil {
		return g, fmt.Errorf("%w: key: %v", memory.ErrInvalid, err)
	}
	return sr.admitWorker(ctx, sh, rep, request, limits, r.Name)
}

func (sr Sharer) admitWorker(ctx context.Context, sh *Sharing, rep *replica.Replica, request envelope.Request, limits delta.Grant, name string) (g serve.Grant, err error) {
	if err := rep.Sync(ctx); replica.Failed(err) { // this fetches the current epoch
		return g, err
	}
	st, err := rep.Status(ctx)
	if err != nil {
		return g, err
	}
	space := sh.c.Public.Space()
	m := envelope.Member{ID: request.Member(space), Key: request.Key, Recipient: request.Recipient, Role: envelope.Extractor}
	if name == "" {
		name = "worker " + m.ID.String()[:8]
	}
	if err := sr.sealGrant(&m, limits, st.Epoch); err != nil {
		return g, err
	}
	if err := rep.AddMember(ctx, m, name); err != nil {
		return g, fmt.Errorf("let %s in: %w", name, err)
	}
	welcome, err := sh.welcome()
	return serve.Grant{Member: m.ID, Name: name, Space: space, Types: serve.NonNil(limits.Types), Transcribe: limits.Transcribe, PerEvidence: perEvidence(limits),
		Added: sh.c.Now().UTC(), Relay: sh.c.Sync.Primary(), Welcome: welcome}, err
}

func (sr Sharer) sealGrant(m *envelope.Member, limits delta.Grant, epoch uint32) error {
	sh, release, err := sr.of.Use()
	if err != nil {
		return err
	}
	defer release()
	key, ok := exchange.Keys{Ring: sh.c.Ring}.Epoch(epoch)
	if !ok {
		return fmt.Errorf("%w: the key of epoch %d is not here yet", serve.ErrConflict, epoch)
	}
	m.Grant = replica.SealGrant(limits, sh.c.Public.Space(), m.ID, epoch, key)
	return nil
}

// welcome returns what a worker of the wearer's space has to be told.
func (sh *Sharing) welcome() (string, error) {
	genesis, err := membership.Genesis(sh.c.Public)
	if err != nil {
		return "", err
	}
	first, err := envelope.ParseEntry(genesis)
	if err != nil {
		return "", err
	}
	return envelope.Welcome{Space: sh.c.Public.Space(), Genesis: first.Hash()}.String(), nil
}

func perEvidence(g delta.Grant) int { return cmp.Or(g.PerEvidence, delta.MaxPerEvidence) }

func (sr Sharer) addFeed(ctx context.Context, r *serve.GrantRequest, limits delta.Grant) (serve.Grant, error) {
	w := share.FeedSpec{Name: r.Name, Key: r.Key, Grant: limits, Audio: r.Recordings, Criteria: share.Criteria{Types: r.Types, Since: r.Since, Most: memory.Personal}}
	if r.Sensitivity != nil {
		w.Criteria.Most = *r.Sensitivity
	}
	return during(ctx, sr, needed, func(ctx context.Context, s *share.Sharing, _ *Sharing) (serve.Grant, error) {
		rec, err := s.CreateFeed(ctx, w)
		return feedGrant(&rec), err
	})
}

func feedGrant(rec *share.Record) serve.Grant {
	g := serve.Grant{Name: rec.Title, Feed: true, Space: rec.Space, Types: serve.NonNil(rec.Grant.Types), Transcribe: rec.Grant.Transcribe, PerEvidence: perEvidence(rec.Grant),
		Memories: rec.Copies, Added: rec.Created, Removed: rec.Revoked, Relay: rec.Relay, Welcome: rec.Link().Welcome.String()}
	if len(rec.Parties) > 0 {
		g.Member = rec.Parties[0].Member
	}
	return g
}

// Grants implements serve.Granter. It leaves out workers that were removed from the wearer's
// space.
func (sr Sharer) Grants(ctx context.Context) ([]serve.Grant, error) {
	s, sh, ctx, release, err := sr.enter(ctx, needed)
	if err != nil {
		return nil, err
	}
	defer release()
	welcome, err := sh.welcome()
	if err != nil {
		return nil, err
	}
	out := []serve.Grant{}
	members, err := sh.c.Sync.Replica().Members(ctx)
	if err != nil {
		return nil, err
	}
	for i := range members {
		m := &members[i]
		if m.Role != envelope.Extractor {
			continue
		}
		limits, err := replica.OpenGrant(m, sh.c.Public.Space(), exchange.Keys{Ring: sh.c.Ring}.Epoch)
		if err != nil {
			return nil, err
		}
		name, err := replica.OpenName(m, sh.c.Public.Space(), exchange.Keys{Ring: sh.c.Ring}.Epoch)
		if err != nil {
			return nil, err
		}
		out = append(out, serve.Grant{Member: m.ID, Name: name, Space: sh.c.Public.Space(), Types: serve.NonNil(limits.Types), Transcribe: limits.Transcribe,
			PerEvidence: perEvidence(limits), Relay: sh.c.Sync.Primary(), Welcome: welcome})
	}
	feeds, err := s.Records(ctx, share.Feed)
	for i := range feeds {
		out = append(out, feedGrant(&feeds[i]))
	}
	return out, err
}

func (sr Sharer) RevokeGrant(ctx context.Context, who string) (g serve.Grant, err error) {
	all, err := sr.Grants(ctx)
	if err != nil {
		return g, err
	}
	request, keyErr := envelope.ParseRequest(who)
	found := slices.DeleteFunc(all, func(g serve.Grant) bool {
		if !g.Removed.IsZero() {
			return true
		}
		if keyErr == nil {
			return request.Member(g.Space) != g.Member
		}
		return g.Name != who && (len(who) < 4 || !strings.HasPrefix(g.Member.String(), strings.ToLower(who)))
	})
	switch len(found) {
	case 0:
		return g, fmt.Errorf("grant of %.40q: %w", who, memory.ErrNotFound)
	case 1:
	default:
		return g, fmt.Errorf("grant of %.40q: %w", who, memory.ErrAmbiguous)
	}
	g = found[0]
	s, sh, ctx, release, err := sr.enter(ctx, needed)
	if err != nil {
		return g, err
	}
	defer release()
	if g.Feed {
		_, err = s.RevokeFeed(ctx, g.Space)
	} else {
		// What the member has sent so far still counts. A relay that lies about that can't
		// keep the member from being removed.
		if err := sh.c.Sync.Replica().Sync(ctx); err != nil {
			sh.c.Log.Warn("revoke a grant: sync failed before", "error", err)
		}
		err = exchange.ChangeError(ctx, sh.c.Sync.Replica().RemoveMember(ctx, g.Member, nil))
	}
	g.Removed = sh.c.Now().UTC()
	return g, shareError(err)
}

func (sr Sharer) TendGrants(ctx context.Context) (serve.FeedsTended, error) {
	return during(ctx, sr, needed, func(ctx context.Context, s *share.Sharing, _ *Sharing) (serve.FeedsTended, error) {
		t, err := s.MaintainFeeds(ctx)
		return serve.FeedsTended{Feeds: t.Feeds, Taken: t.Taken}, err
	})
}

// WaitsFor returns what a question waits for.
func (sr Sharer) WaitsFor(ctx context.Context) (string, error) {
	_, rep, err := sr.replica()
	if err != nil {
		return "it is kept, and waits for a relay and a worker: this node has no relay", nil
	}
	grants, err := sr.Grants(ctx)
	if err != nil {
		return "", err
	}
	may := slices.ContainsFunc(grants, func(g serve.Grant) bool {
		return g.Removed.IsZero() && slices.Contains(g.Types, memory.Resource)
	})
	if !may {
		return "it is kept, and waits for a worker that may see it: 'locket grant worker' lets one in", nil
	}
	st, err := rep.Status(ctx)
	if err != nil {
		return "", err
	}
	if st.Error != "" {
		return "it is kept, and waits for the relay, to go to the worker: " + st.Error, nil
	}
	return "it goes to the worker; ask again for the answer, and see 'locket grant log' for how far it is", nil
}

// replica returns the open node's replica, or why there is none.
func (sr Sharer) replica() (*Sharing, *replica.Replica, error) {
	sh, release, err := sr.of.Use()
	if err != nil {
		return nil, nil, err
	}
	defer release()
	rep, err := sh.c.Sync.Active()
	return sh, rep, err
}
