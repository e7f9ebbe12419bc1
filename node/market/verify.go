package market

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/translog"
)

// ErrHidden: the market's log lacks what the market signed, or the market does not show
// what its log has.
var ErrHidden = errors.New("the market hides something that it signed")

// logWithin is how long a market may have a step without having it in its log.
const logWithin = time.Hour

// Verification says how to check a market's log.
type Verification struct {
	Witnesses []string      // "URL KEY" of witnesses that must have cosigned, in addition to those that the market names
	With      []byte        // a checkpoint that somebody else was shown; nil: none
	Sold      []trade.Chain // orders that this home sold, which must also be in the log
}

// Verified is the result of checking a market's log.
type Verified struct {
	Log       string            `json:"log"`
	Key       string            `json:"key"` // of the log, for a witness
	Size      int64             `json:"size"`
	Before    int64             `json:"before"` // number of entries at the last check; 0: there was none
	Witnesses []WitnessSaw      `json:"witnesses"`
	Orders    []VerifiedDeal    `json:"orders"`
	Listings  []VerifiedListing `json:"listings,omitempty"` // the listings of the orders, with their reviews
	Note      []byte            `json:"-"`                  // the signed checkpoint
	Market    trade.Key         `json:"-"`
	Fork      *translog.Fork    `json:"-"` // the operator signed two histories; nothing else was checked
	ForkFile  string            `json:"-"` // the file with the Fork
	Unkept    error             `json:"-"` // why the Fork is in no file; nil: it is in ForkFile
	Unsigned  []string          `json:"-"` // names of witnesses that must have cosigned, but did not
}

// hides reports whether the log lacks something that must be in it.
func (v *Verified) hides() bool {
	return v.Size < v.Before || slices.ContainsFunc(v.Orders, func(d VerifiedDeal) bool { return d.Hidden }) ||
		slices.ContainsFunc(v.Listings, func(l VerifiedListing) bool { return l.Reviews.Hidden > 0 })
}

// found returns an error if the market was caught at something.
func (v *Verified) found() error {
	if v.Fork != nil && v.Unkept != nil {
		return fmt.Errorf("%w. The two signed histories could not be kept: %w", v.Fork, v.Unkept)
	}
	if v.Fork != nil {
		return fmt.Errorf("%w. Both signed histories are in %s, which proves it to anyone who has the market's key", v.Fork, v.ForkFile)
	}
	var out []error
	for _, name := range v.Unsigned {
		out = append(out, fmt.Errorf("witness %s: %w", name, translog.ErrWitness))
	}
	if v.Size < v.Before {
		out = append(out, fmt.Errorf("%w: it shows %d entries, and showed %d before", ErrHidden, v.Size, v.Before))
	} else if v.hides() {
		out = append(out, ErrHidden)
	}
	return errors.Join(out...)
}

// WitnessSaw is what one witness has seen.
type WitnessSaw struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Signed  bool   `json:"signed"`          // it cosigned the checkpoint that the market shows
	Size    int64  `json:"size,omitempty"`  // number of entries that it has seen, of the same history
	Error   string `json:"error,omitempty"` // why that is unknown or, beside a size, why it is unknown what the witness caught
}

// VerifiedDeal is what the log has about one order.
type VerifiedDeal struct {
	Order   trade.Hash `json:"order"`
	Title   string     `json:"title"`
	Sold    bool       `json:"sold,omitempty"`    // this home sold it; otherwise this home bought it
	Listed  bool       `json:"listed"`            // the log has the listing's version
	Receipt bool       `json:"receipt,omitempty"` // the log has the receipt of an order that ended with a key
	Waits   bool       `json:"waits,omitempty"`   // something is missing, but it is too new
	Hidden  bool       `json:"hidden,omitempty"`  // something is missing that must be there
	Review  string     `json:"review,omitempty"`  // the buyer's own review: shown, or deleted by the operator; empty: there is none, it is missing (Waits, Hidden), or newer reviews fill what is shown
	Why     string     `json:"why,omitempty"`     // why it was deleted
}

// seenLog is what is stored about a market's log, as JSON, in a file named by the market's key.
type seenLog struct {
	Checkpoint string                    `json:"checkpoint"` // signed
	Shown      map[trade.Hash]trade.Hash `json:"shown"`      // by order: the last step at the time when all of it was in the log
	Absent     map[trade.Hash]absent     `json:"absent,omitempty"`
	Hiding     map[trade.Hash]int64      `json:"hiding,omitempty"` // by listing: when reviews were first missing that it should show, in seconds since 1970
}

const logsDir = "logs"

// MaxWith is the maximum length of somebody else's checkpoint, in bytes.
const MaxWith = translog.MaxCheckpoint

// Verify checks the market's transparency log: that it continues the log of the last check, that
// witnesses saw the same, and that each order in this home is in it. If the operator showed two
// histories, the result has a [*translog.Fork], which is also stored in the file that the error
// names. If entries are missing, the error is [ErrHidden], and the result names their orders.
func (b *Buyer) Verify(ctx context.Context, address string, how Verification) (v *Verified, err error) {
	if v, err = b.look(ctx, address, how); v != nil {
		err = errors.Join(err, v.found())
	}
	return v, err
}

// look is Verify, but its error only means that the check was not possible.
func (b *Buyer) look(ctx context.Context, address string, how Verification) (v *Verified, err error) {
	err = b.WithMarket(ctx, address, func(m *remote.Market, _ trade.Party, terms trade.Terms) error {
		v, err = b.verify(ctx, m, address, &terms, &how)
		return err
	})
	return v, err
}

func (b *Buyer) verify(ctx context.Context, m *remote.Market, address string, terms *trade.Terms, how *Verification) (*Verified, error) {
	key, text, err := logKey(terms)
	if err != nil {
		return nil, err
	}
	witnesses, err := watching(address, terms, how)
	if err != nil {
		return nil, err
	}
	c := b.logClient(address, key)
	for _, w := range witnesses {
		c.Witnesses = append(c.Witnesses, w.key)
	}
	now, err := c.Checkpoint(ctx)
	if err != nil {
		return nil, fmt.Errorf("the market's log: %w: %w", remote.ErrAnswer, err)
	}
	v := &Verified{Log: terms.Log, Key: text, Market: terms.Market, Size: now.Size, Note: now.Note, Witnesses: []WitnessSaw{}, Orders: []VerifiedDeal{}}
	file, kept := b.logFile(terms.Market), seenLog{}
	last, err := readLog(file, key, &kept)
	if err != nil {
		return nil, err
	}
	if last != nil {
		v.Before = last.Size
	}
	newest, err := translog.Follow(ctx, last, now, c)
	if err == nil && how.With != nil {
		var other *translog.Signed
		if other, err = translog.Open(how.With, c.Key); err != nil {
			return nil, fmt.Errorf("%w: what another was shown: %w", memory.ErrInvalid, err)
		}
		_, err = translog.Follow(ctx, now, other, c)
	}
	for i := 0; err == nil && i < len(witnesses); i++ {
		err = v.ask(ctx, c, now, &witnesses[i])
	}
	if err != nil {
		return v, v.recordFork(err, file)
	}
	deals, err := b.deals(ctx, c, now, terms.Market, how.Sold, &kept, v)
	if err == nil {
		err = b.reviews(ctx, m, c, now, deals, &kept, v)
	}
	if err != nil {
		return v, v.recordFork(err, file)
	}
	for i, w := range witnesses {
		if w.required && !v.Witnesses[i].Signed {
			v.Unsigned = append(v.Unsigned, w.key.Name())
		}
	}
	if err := b.keepLog(ctx, c, file, newest, &kept); err != nil {
		return v, v.recordFork(err, file)
	}
	return v, nil
}

// ask records what one witness saw of the log. The error is a fork.
func (v *Verified) ask(ctx context.Context, c *translog.Client, now *translog.Signed, w *watcher) error {
	saw := WitnessSaw{Name: w.key.Name(), Address: w.address}
	if own, err := translog.Open(now.Note, c.Key, w.key); err == nil { // compared one by one, because the names of witnesses may be the same
		saw.Signed = len(own.Cosigned) > 0
	}
	seen, err := translog.Compare(ctx, c.HTTP, w.address, c.Key, now, c)
	if isFork(err) {
		return err
	}
	if err != nil {
		saw.Error = err.Error()
	}
	if seen != nil {
		saw.Size = seen.Size
	}
	v.Witnesses = append(v.Witnesses, saw)
	return nil
}

// watcher is a witness that is asked.
type watcher struct {
	address  string
	key      note.Verifier
	required bool // it must have cosigned, because the user names it, and not only the market
}

// maxWitnesses is how many witnesses a market may name.
const maxWitnesses = 8

func watching(address string, terms *trade.Terms, how *Verification) (out []watcher, err error) {
	if len(terms.Witnesses) > maxWitnesses {
		return nil, fmt.Errorf("the market's witnesses: %w: %d", remote.ErrAnswer, len(terms.Witnesses))
	}
	for i, text := range slices.Concat(how.Witnesses, terms.Witnesses) {
		at, key, err := translog.ParseWitness(text)
		theirs := i >= len(how.Witnesses)
		if err == nil && slices.ContainsFunc(out, func(w watcher) bool { return w.key.Name() == key.Name() && w.key.KeyHash() == key.KeyHash() }) {
			continue // those of the user come first
		}
		switch {
		case err != nil && theirs, err == nil && theirs && strings.HasPrefix(address, "https:") && !strings.HasPrefix(at, "https:"):
			return nil, fmt.Errorf("the market's witness %.200q: %w", text, remote.ErrAnswer)
		case err != nil:
			return nil, fmt.Errorf("%w: %w", memory.ErrInvalid, err)
		}
		out = append(out, watcher{at, key, !theirs})
	}
	return out, nil
}

// readLog returns the state of the log at the last check; nil: there was none.
func readLog(file string, key note.Verifier, into *seenLog) (*translog.Signed, error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		into.Shown, into.Absent, into.Hiding = map[trade.Hash]trade.Hash{}, map[trade.Hash]absent{}, map[trade.Hash]int64{}
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return nil, fmt.Errorf("the log as it was: %w", err)
	}
	if into.Shown == nil {
		into.Shown = map[trade.Hash]trade.Hash{}
	}
	if into.Absent == nil {
		into.Absent = map[trade.Hash]absent{}
	}
	if into.Hiding == nil {
		into.Hiding = map[trade.Hash]int64{}
	}
	origin, _, _ := strings.Cut(into.Checkpoint, "\n")
	if origin != key.Name() {
		return nil, fmt.Errorf("%w: it showed the log %q before, and shows %q now; the earlier one is in %s", ErrOtherMarket, origin, key.Name(), file)
	}
	last, err := translog.Open([]byte(into.Checkpoint), key)
	if err != nil {
		return nil, fmt.Errorf("the log as it was, in %s: %w", file, err)
	}
	return last, nil
}

func isFork(err error) bool {
	_, is := errors.AsType[*translog.Fork](err)
	return is
}

// recordFork stores the evidence of two histories beside the file of a log, or records in v why it could
// not. It returns any other error.
func (v *Verified) recordFork(err error, file string) error {
	f, is := errors.AsType[*translog.Fork](err)
	if !is {
		return err
	}
	v.Fork = f
	to := strings.TrimSuffix(file, ".json") + ".fork.json"
	if v.Unkept = writeJSON(to, f); v.Unkept == nil {
		v.ForkFile = to
	}
	return nil
}

// deals looks for each order of this market that is stored here, and for those of sold. It returns
// their state, in the order of v.Orders.
func (b *Buyer) deals(ctx context.Context, c *translog.Client, now *translog.Signed, of trade.Key, sold []trade.Chain, kept *seenLog, v *Verified) (out []*trade.State, err error) {
	list, err := b.Orders()
	if err != nil {
		return nil, err
	}
	for _, o := range list {
		if o.State.Offer.Market != of {
			continue
		}
		if err := b.deal(ctx, c, now, &o.Chain, o.State, kept, v); err != nil {
			return nil, err
		}
		out = append(out, o.State)
	}
	for i := range sold {
		s, err := sold[i].Replay()
		if err != nil {
			return nil, err
		}
		if s.Offer.Market != of || slices.ContainsFunc(v.Orders, func(d VerifiedDeal) bool { return d.Order == s.ID }) {
			continue
		}
		if err := b.deal(ctx, c, now, &sold[i], s, kept, v); err != nil {
			return nil, err
		}
		v.Orders[len(v.Orders)-1].Sold = true
		out = append(out, s)
	}
	return out, nil
}

// deal looks for one order.
func (b *Buyer) deal(ctx context.Context, c *translog.Client, now *translog.Signed, chain *trade.Chain, s *trade.State, kept *seenLog, v *Verified) (err error) {
	d := VerifiedDeal{Order: s.ID, Title: s.Offer.Title, Receipt: s.Reviewable(), Listed: true}
	if kept.Shown[s.ID] != s.Last {
		if d.Listed, err = isLogged(ctx, c, now, translog.Listed, s.Offer.ID(), s.Offer.Signed, s.Offer.Number-1); err != nil {
			return err
		}
		if d.Receipt {
			if d.Receipt, err = isLogged(ctx, c, now, translog.Receipt, s.ID, chain.Links[len(chain.Links)-1].Step, 0); err != nil {
				return err
			}
		}
		was, at := kept.Absent[s.ID], b.now().Unix()
		gone := absent{Listing: since(d.Listed, was.Listing, at), Receipt: since(d.Receipt == s.Reviewable(), was.Receipt, at)}
		if gone == (absent{}) {
			kept.Shown[s.ID] = s.Last // later steps continue from here
			if delete(kept.Absent, s.ID); was.Review > 0 {
				kept.Absent[s.ID] = absent{Review: was.Review}
			}
		} else {
			gone.Review = was.Review
			kept.Absent[s.ID] = gone
			for _, t := range []int64{gone.Listing, gone.Receipt, s.At} {
				d.Hidden = d.Hidden || t > 0 && b.now().Sub(time.Unix(t, 0)) >= logWithin
			}
			d.Waits = !d.Hidden
		}
	}
	v.Orders = append(v.Orders, d)
	return nil
}

// isLogged reports whether a checkpoint's log has an entry for something signed. At least as many
// entries of the subject as before come first.
func isLogged(ctx context.Context, c *translog.Client, now *translog.Signed, kind translog.Kind, subject trade.Hash, signed []byte, before uint32) (bool, error) {
	n, err := place(ctx, c, now, kind, subject, signed, before)
	return n >= 0, err
}

// place returns where a checkpoint's log has an entry for something signed; -1: nowhere. At least as
// many entries of the subject as before come first.
func place(ctx context.Context, c *translog.Client, now *translog.Signed, kind translog.Kind, subject trade.Hash, signed []byte, before uint32) (int64, error) {
	places, err := c.Find(ctx, subject.String(), before)
	if err != nil {
		return -1, err
	}
	const most = 100 // between two versions, the log has only moves of the listing
	for _, n := range places[:min(len(places), most)] {
		es, err := c.Entries(ctx, now.Checkpoint, n)
		if err != nil {
			return -1, err
		}
		if len(es) > 0 && es[0].Kind == kind && es[0].Subject == subject.String() && es[0].Digest == translog.Digest(signed) {
			return n, nil
		}
	}
	return -1, nil
}
