package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/exchange"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// View implements share.Inbox.
func (s shareSource) View(ctx context.Context, fn func(*store.Tx) error) error {
	return s.o.store.View(ctx, fn)
}

// takePage is how many of a worker's words one transaction takes.
const takePage = 50

// Take implements share.Inbox: this device says it for the worker, so that the
// wearer's other devices hear of it, who are not in the feed.
func (s shareSource) Take(ctx context.Context, as []memory.Assertion, us []memory.Utterance) error {
	o := s.o
	lock := o.engine.Hold()
	defer lock.Release()
	as, us, err := o.safe(ctx, as, us)
	if err != nil {
		return err
	}
	for len(as)+len(us) > 0 {
		a, u := as[:min(len(as), takePage)], us[:min(len(us), takePage)]
		err := o.take(ctx, lock, func(tx *store.Tx) error {
			for i := range u {
				said := u[i]
				said.Space, said.Source = o.ring.Space(), u[i].Source.AsWorker() // by which a revert finds it
				switch old, err := tx.Utterance(said.ID); {
				case err == nil && !old.Source.ByWorker():
					continue // a device's own line, which a worker can't make its own
				case err != nil && !errors.Is(err, memory.ErrNotFound):
					return err
				}
				if err := tx.PutUtterance(&said); err != nil {
					return err
				}
			}
			for i := range a {
				if err := s.takeOne(tx, a[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		as, us = as[len(a):], us[len(u):]
	}
	return nil
}

func (s shareSource) takeOne(tx *store.Tx, a memory.Assertion) (err error) {
	if m, err := tx.Memory(a.Memory); err == nil && m.State == memory.Erased {
		return nil
	} else if err != nil && !errors.Is(err, memory.ErrNotFound) {
		return err
	}
	a.Seen = nil            // what the worker knew has other dots here
	if a.Candidate != nil { // the worker does not know whose memories they are
		c := *a.Candidate
		c.Owner.User = config.Owner
		a.Candidate = &c
	}
	_, err = s.o.engine.Say(tx, memory.RankCloud, a)
	return err
}

// maxPerEvidence is how much a worker may say of one piece of evidence.
const maxPerEvidence = 128

// AddGrant implements serve.Granter.
func (n *Node) AddGrant(ctx context.Context, r serve.GrantRequest) (g serve.Grant, err error) {
	rep, err := n.replica() // without a relay there is nobody to let in
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
			return g, fmt.Errorf("%w: types: %q is nothing for a worker", memory.ErrInvalid, t)
		}
	}
	if r.Feed {
		return n.addFeed(ctx, &r, limits)
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
	return n.admitWorker(ctx, rep, request, limits, r.Name)
}

func (n *Node) admitWorker(ctx context.Context, rep *replica.Replica, request envelope.Request, limits delta.Grant, name string) (g serve.Grant, err error) {
	if err := rep.Sync(ctx); replica.Failed(err) { // the epoch that is in force
		return g, err
	}
	st, err := rep.Status(ctx)
	if err != nil {
		return g, err
	}
	space := n.public.Space()
	m := envelope.Member{ID: request.Member(space), Key: request.Key, Recipient: request.Recipient, Role: envelope.Extractor}
	if name == "" {
		name = "worker " + m.ID.String()[:8]
	}
	if err := n.sealGrant(&m, limits, st.Epoch); err != nil {
		return g, err
	}
	if err := rep.AddMember(ctx, m, name); err != nil {
		return g, fmt.Errorf("let %s in: %w", name, err)
	}
	welcome, err := n.welcome()
	return serve.Grant{Member: m.ID, Name: name, Space: space, Types: serve.Some(limits.Types), Transcribe: limits.Transcribe, PerEvidence: perEvidence(limits),
		Added: n.now().UTC(), Relay: n.cfg.Sync.Relay, Welcome: welcome}, err
}

func (n *Node) sealGrant(m *envelope.Member, limits delta.Grant, epoch uint32) error {
	o, release, err := n.use()
	if err != nil {
		return err
	}
	defer release()
	key, ok := exchange.Keys{Ring: o.ring}.Epoch(epoch)
	if !ok {
		return fmt.Errorf("%w: the key of epoch %d is not here yet", serve.ErrConflict, epoch)
	}
	m.Grant = replica.SealGrant(limits, n.public.Space(), m.ID, epoch, key)
	return nil
}

// welcome is what a worker of the wearer's space is told.
func (n *Node) welcome() (string, error) {
	genesis, err := n.public.Genesis()
	if err != nil {
		return "", err
	}
	first, err := envelope.ParseEntry(genesis)
	if err != nil {
		return "", err
	}
	return envelope.Welcome{Space: n.public.Space(), Genesis: first.Hash()}.String(), nil
}

func perEvidence(g delta.Grant) int {
	if g.PerEvidence == 0 {
		return delta.MaxPerEvidence
	}
	return g.PerEvidence
}

func (n *Node) addFeed(ctx context.Context, r *serve.GrantRequest, limits delta.Grant) (g serve.Grant, err error) {
	s, _, ctx, release, err := n.sharing(ctx)
	if err != nil {
		return g, err
	}
	defer release()
	w := share.FeedSpec{Name: r.Name, Key: r.Key, Grant: limits, Audio: r.Recordings, Criteria: share.Criteria{Types: r.Types, Since: r.Since, Most: memory.Personal}}
	if r.Sensitivity != nil {
		w.Criteria.Most = *r.Sensitivity
	}
	rec, err := s.CreateFeed(ctx, w)
	if err != nil {
		return g, shareError(err)
	}
	return feedGrant(&rec), nil
}

func feedGrant(rec *share.Record) serve.Grant {
	g := serve.Grant{Name: rec.Title, Feed: true, Space: rec.Space, Types: serve.Some(rec.Grant.Types), Transcribe: rec.Grant.Transcribe, PerEvidence: perEvidence(rec.Grant),
		Memories: rec.Copies, Added: rec.Created, Removed: rec.Revoked, Relay: rec.Relay, Welcome: rec.Link().Welcome.String()}
	if len(rec.Parties) > 0 {
		g.Member = rec.Parties[0].Member
	}
	return g
}

// Grants implements serve.Granter. Of workers that were put out of the
// wearer's space nothing is told.
func (n *Node) Grants(ctx context.Context) ([]serve.Grant, error) {
	s, o, ctx, release, err := n.sharing(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	welcome, err := n.welcome()
	if err != nil {
		return nil, err
	}
	out := []serve.Grant{}
	members, err := o.sync.Replica().Members(ctx)
	if err != nil {
		return nil, err
	}
	for i := range members {
		m := &members[i]
		if m.Role != envelope.Extractor {
			continue
		}
		limits, err := replica.OpenGrant(m, n.public.Space(), exchange.Keys{Ring: o.ring}.Epoch)
		if err != nil {
			return nil, err
		}
		name, err := replica.OpenName(m, n.public.Space(), exchange.Keys{Ring: o.ring}.Epoch)
		if err != nil {
			return nil, err
		}
		out = append(out, serve.Grant{Member: m.ID, Name: name, Space: n.public.Space(), Types: serve.Some(limits.Types), Transcribe: limits.Transcribe,
			PerEvidence: perEvidence(limits), Relay: n.cfg.Sync.Relay, Welcome: welcome})
	}
	feeds, err := s.Records(ctx, share.Feed)
	for i := range feeds {
		out = append(out, feedGrant(&feeds[i]))
	}
	return out, err
}

// RevokeGrant implements serve.Granter.
func (n *Node) RevokeGrant(ctx context.Context, who string) (g serve.Grant, err error) {
	all, err := n.Grants(ctx)
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
	s, o, ctx, release, err := n.sharing(ctx)
	if err != nil {
		return g, err
	}
	defer release()
	if g.Feed {
		_, err = s.RevokeFeed(ctx, g.Space)
	} else {
		// What it has sent until now still counts. A relay that lies about that
		// keeps nobody in.
		if err := o.sync.Replica().Sync(ctx); err != nil {
			n.log.Warn("revoke a grant: sync failed before", "error", err)
		}
		err = exchange.ChangeError(ctx, o.sync.Replica().RemoveMember(ctx, g.Member, nil))
	}
	g.Removed = n.now().UTC()
	return g, shareError(err)
}

// TendGrants implements serve.Granter.
func (n *Node) TendGrants(ctx context.Context) (v serve.FeedsTended, err error) {
	s, _, ctx, release, err := n.sharing(ctx)
	if err != nil {
		return v, err
	}
	defer release()
	t, err := s.TendFeeds(ctx)
	return serve.FeedsTended{Feeds: t.Feeds, Taken: t.Taken}, shareError(err)
}

// waitsFor says what a question waits for.
func (n *Node) waitsFor(ctx context.Context) (string, error) {
	rep, err := n.replica()
	if err != nil {
		return "it is kept, and waits for a relay and a worker: this node has no relay", nil
	}
	grants, err := n.Grants(ctx)
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

// replica gives the open node's, or why there is none.
func (n *Node) replica() (*replica.Replica, error) {
	o, release, err := n.use()
	if err != nil {
		return nil, err
	}
	defer release()
	return o.sync.Active()
}
