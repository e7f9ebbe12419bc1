package market

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/translog"
)

// ErrHidden: the market's log lacks what the market signed.
var ErrHidden = errors.New("the market's log lacks what the market signed")

// logWithin is for how long a market may have a step and not show it in its log.
const logWithin = time.Hour

// Verification says how to look at a market's log.
type Verification struct {
	Witnesses []string // "URL KEY" of witnesses that must have cosigned, beside those that the market names
	With      []byte   // a checkpoint that somebody else was shown; nil: none
}

// Verified is what a market's log was found to be.
type Verified struct {
	Log       string         `json:"log"`
	Key       string         `json:"key"` // of the log, for a witness
	Size      int64          `json:"size"`
	Before    int64          `json:"before"` // entries when it was looked at the last time; 0: never
	Witnesses []WitnessSaw   `json:"witnesses"`
	Orders    []VerifiedDeal `json:"orders"`
	Note      []byte         `json:"-"` // the signed checkpoint
}

// WitnessSaw is one witness.
type WitnessSaw struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Signed  bool   `json:"signed"`          // it cosigned the checkpoint that the market shows
	Size    int64  `json:"size,omitempty"`  // entries that it has seen, of the same history
	Error   string `json:"error,omitempty"` // why that is not known or, beside a size, why it is not known what the witness caught
}

// VerifiedDeal is what the log has of one order.
type VerifiedDeal struct {
	Order   trade.Hash `json:"order"`
	Title   string     `json:"title"`
	Listed  bool       `json:"listed"`            // the listing's version
	Receipt bool       `json:"receipt,omitempty"` // of an order that ended with a key
	Waits   bool       `json:"waits,omitempty"`   // something is missing that is too new
	Hidden  bool       `json:"hidden,omitempty"`  // something is missing that must be there
}

// seenLog is what is kept of a market's log, as JSON, in a file that the market's key
// names.
type seenLog struct {
	Checkpoint string                    `json:"checkpoint"` // signed
	Shown      map[trade.Hash]trade.Hash `json:"shown"`      // by an order, the last step when all of it stood in the log
	Absent     map[trade.Hash]absent     `json:"absent,omitempty"`
}

// absent says when this home first saw that the log lacks something of an order, in
// seconds since 1970; 0: it doesn't. The market's own times could put that off.
type absent struct {
	Listing int64 `json:"listing,omitempty"`
	Receipt int64 `json:"receipt,omitempty"`
}

// since gives when something that stands in the log, or does not, was first missing.
func since(stands bool, was, now int64) int64 {
	switch {
	case stands:
		return 0
	case was > 0 && was <= now:
		return was
	}
	return now
}

const logsDir = "logs"

// MaxWith is how long another's checkpoint may be, in bytes.
const MaxWith = translog.MaxCheckpoint

// Verify checks the market's transparency log: that it goes on from what it was the last
// time, that witnesses saw the same, and that each order in this home stands in it. An
// operator who showed two histories is named by a [*translog.Fork], which is kept in the
// file that the error names. Where entries are missing the error is [ErrHidden], and the
// result says of which orders.
func (b *Buyer) Verify(ctx context.Context, address string, how Verification) (v *Verified, err error) {
	err = b.At(ctx, address, func(m *remote.Market, _ trade.Party, terms trade.Terms) error {
		v, err = b.verify(ctx, address, &terms, &how)
		return err
	})
	return v, err
}

func (b *Buyer) verify(ctx context.Context, address string, terms *trade.Terms, how *Verification) (*Verified, error) {
	if terms.Log == "" {
		return nil, fmt.Errorf("%w: the market keeps no log", memory.ErrNotFound)
	}
	text, err := translog.LogKey(terms.Log, terms.Market[:])
	if err != nil {
		return nil, fmt.Errorf("the log's name: %w: %w", remote.ErrAnswer, err)
	}
	key, err := translog.Key(text)
	if err != nil {
		return nil, fmt.Errorf("the log's name: %w: %w", remote.ErrAnswer, err)
	}
	client := &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if b.HTTP != nil {
		client = b.HTTP
	}
	witnesses, err := watching(address, terms, how)
	if err != nil {
		return nil, err
	}
	c := &translog.Client{URL: strings.TrimRight(address, "/") + "/v1/market/log", HTTP: client, Key: key}
	for _, w := range witnesses {
		c.Witnesses = append(c.Witnesses, w.key)
	}
	now, err := c.Checkpoint(ctx)
	if err != nil {
		return nil, fmt.Errorf("the market's log: %w: %w", remote.ErrAnswer, err)
	}
	file := filepath.Join(b.Dir, logsDir, terms.Market.String()+".json")
	v := &Verified{Log: terms.Log, Key: text, Size: now.Size, Note: now.Note, Witnesses: []WitnessSaw{}, Orders: []VerifiedDeal{}}
	kept := seenLog{}
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
		if other, err = translog.Open(how.With, key); err == nil {
			_, err = translog.Follow(ctx, now, other, c)
		}
	}
	if err != nil {
		return v, b.named(err, file)
	}
	var missing error
	if now.Size < v.Before {
		missing = fmt.Errorf("%w: it shows %d entries, and showed %d before", ErrHidden, now.Size, v.Before)
	}
	for _, w := range witnesses {
		saw := WitnessSaw{Name: w.key.Name(), Address: w.address}
		if own, err := translog.Open(now.Note, key, w.key); err == nil { // by itself: names of witnesses may be alike
			saw.Signed = len(own.Cosigned) > 0
		}
		seen, err := translog.Compare(ctx, client, w.address, key, now, c)
		if isFork(err) {
			return v, b.named(err, file)
		}
		if err != nil {
			saw.Error = err.Error()
		}
		if seen != nil {
			saw.Size = seen.Size
		}
		v.Witnesses = append(v.Witnesses, saw)
	}
	if err := b.deals(ctx, c, now, terms.Market, &kept, v); err != nil {
		return v, err
	}
	if slices.ContainsFunc(v.Orders, func(d VerifiedDeal) bool { return d.Hidden }) {
		missing = errors.Join(missing, ErrHidden)
	}
	kept.Checkpoint = string(newest.Note)
	raw, err := json.MarshalIndent(&kept, "", "  ")
	if err == nil {
		err = atomicfile.MkdirAll(filepath.Dir(file))
	}
	if err == nil {
		err = atomicfile.Write(file, raw)
	}
	for i, w := range witnesses {
		if w.required && !v.Witnesses[i].Signed {
			err = errors.Join(err, fmt.Errorf("witness %s: %w", w.key.Name(), translog.ErrWitness))
		}
	}
	return v, errors.Join(err, missing)
}

// watcher is a witness that is asked.
type watcher struct {
	address  string
	key      note.Verifier
	required bool // to have cosigned: the user names it, and not the market alone
}

// maxWitnesses is how many a market may name.
const maxWitnesses = 8

func watching(address string, terms *trade.Terms, how *Verification) (out []watcher, err error) {
	if len(terms.Witnesses) > maxWitnesses {
		return nil, fmt.Errorf("the market's witnesses: %w: %d", remote.ErrAnswer, len(terms.Witnesses))
	}
	for i, text := range slices.Concat(how.Witnesses, terms.Witnesses) {
		at, key, err := translog.ParseWitness(text)
		theirs := i >= len(how.Witnesses)
		if err == nil && slices.ContainsFunc(out, func(w watcher) bool { return w.key.Name() == key.Name() && w.key.KeyHash() == key.KeyHash() }) {
			continue // the user's come first
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

// readLog gives what the log was the last time; nil: it was never looked at.
func readLog(file string, key note.Verifier, into *seenLog) (*translog.Signed, error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		into.Shown, into.Absent = map[trade.Hash]trade.Hash{}, map[trade.Hash]absent{}
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
	origin, _, _ := strings.Cut(into.Checkpoint, "\n")
	if origin != key.Name() {
		return nil, fmt.Errorf("%w: it showed the log %q before, and shows %q now; what it was is in %s", ErrOtherMarket, origin, key.Name(), file)
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

// named keeps the evidence of two histories beside the file of a log.
func (b *Buyer) named(err error, file string) error {
	f, is := errors.AsType[*translog.Fork](err)
	if !is {
		return err
	}
	file = strings.TrimSuffix(file, ".json") + ".fork.json"
	raw, failed := json.MarshalIndent(f, "", "  ")
	if failed == nil {
		failed = atomicfile.MkdirAll(filepath.Dir(file))
	}
	if failed == nil {
		failed = atomicfile.Write(file, raw)
	}
	return errors.Join(fmt.Errorf("%w. Both, signed, are in %s, which convinces whoever has the market's key", f, file), failed)
}

// deals looks for each order of this market that is kept here.
func (b *Buyer) deals(ctx context.Context, c *translog.Client, now *translog.Signed, of trade.Key, kept *seenLog, v *Verified) error {
	list, err := b.Orders()
	if err != nil {
		return err
	}
	for _, o := range list {
		s := o.State
		if s.Offer.Market != of {
			continue
		}
		d := VerifiedDeal{Order: s.ID, Title: s.Offer.Title, Receipt: s.Reviewable(), Listed: true}
		if kept.Shown[s.ID] != s.Last {
			if d.Listed, err = stands(ctx, c, now, translog.Listed, s.Offer.ID(), s.Offer.Signed); err != nil {
				return err
			}
			if d.Receipt {
				if d.Receipt, err = stands(ctx, c, now, translog.Receipt, s.ID, o.Chain.Links[len(o.Chain.Links)-1].Step); err != nil {
					return err
				}
			}
			was, at := kept.Absent[s.ID], b.now().Unix()
			gone := absent{since(d.Listed, was.Listing, at), since(d.Receipt == s.Reviewable(), was.Receipt, at)}
			if gone == (absent{}) {
				kept.Shown[s.ID] = s.Last // what comes later goes on from here
				delete(kept.Absent, s.ID)
			} else {
				kept.Absent[s.ID] = gone
				for _, t := range []int64{gone.Listing, gone.Receipt, s.At} {
					d.Hidden = d.Hidden || t > 0 && b.now().Sub(time.Unix(t, 0)) >= logWithin
				}
				d.Waits = !d.Hidden
			}
		}
		v.Orders = append(v.Orders, d)
	}
	return nil
}

// stands reports whether a checkpoint's log has an entry for something signed.
func stands(ctx context.Context, c *translog.Client, now *translog.Signed, kind translog.Kind, subject trade.Hash, signed []byte) (bool, error) {
	places, err := c.Find(ctx, subject.String())
	if err != nil {
		return false, err
	}
	const most = 100 // versions of one listing
	for _, n := range places[:min(len(places), most)] {
		es, err := c.Entries(ctx, now.Checkpoint, n)
		if err != nil {
			return false, err
		}
		if len(es) > 0 && es[0].Kind == kind && es[0].Subject == subject.String() && es[0].Digest == translog.Digest(signed) {
			return true, nil
		}
	}
	return false, nil
}
