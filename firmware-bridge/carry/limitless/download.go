package limitless

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/limitless"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// The times are those of Omi's app, in units of FirstWait, a second.
const (
	firstLook  = 5   // after the connection began
	nextLook   = 90  // between looks at what is stored
	silence    = 30  // without a page for this long, the download is over
	patience   = 8   // timeout of the status
	every      = 25  // pages that are acknowledged together
	unreadable = 600 // wait before an unreadable page is asked for again, then doubled up to a day
	partName   = "limitless"
)

// download fetches the pages. The pendant pushes them in order; a page may be lost on the way.
// Acknowledging a page deletes all pages before it, so the mark only moves over pages that are on
// the node's disk without a hole.
//
// Its methods are called by the session's goroutine alone.
type download struct {
	s       *session
	asking  bool // waiting for the status
	reading bool
	until   time.Time // the next look, or the timeout of an answer
	mark    uint64    // pages below it are on the node's disk, or do not exist any more
	told    uint64    // pages below it were deleted on the pendant
	newest  uint64    // the newest page when the download began
	// Pages at or above the mark, with a number derived from their content: those that came, with 0
	// for those that can't be read, and those that are on the node's disk. They outlive a download,
	// so that only lost pages have to come again.
	came    map[uint64]uint64
	safe    map[uint64]uint64
	batch   []uint64        // pages for the next acknowledgement
	stuck   bool            // a page can't be read
	tries   int             // downloads in a row that ended before the same page, which can't be read
	last    uint64          // that page
	open    []*wear.Receipt // receipts of batch
	waiting int             // batches that the node has not answered
	over    bool            // nothing more comes
	paused  bool            // some of it was thrown away because the wearer paused
}

func newDownload(s *session) *download {
	return &download{s: s, until: time.Now().Add(firstLook * s.FirstWait)}
}

func (d *download) later(n int) { d.until = d.s.Now.Add(time.Duration(n) * d.s.FirstWait) }

func (d *download) tick(ctx context.Context, now time.Time) error {
	switch {
	case now.Before(d.until):
		return nil
	case d.asking:
		d.asking = false
		d.s.Note("warning", "storage: the pendant does not say what it holds")
		d.later(nextLook)
		return nil
	case d.reading && !d.over:
		d.s.Note("storage", "no page for %s", time.Duration(silence)*d.s.FirstWait)
		return d.finish(ctx)
	case d.reading:
		return nil // waiting for the node's answer
	case d.s.Client.Paused() || d.s.part.going() || !d.s.HasRoom() || d.s.IsMetered(ctx, carry.StoredSound):
		return nil
	}
	d.asking = true
	d.later(patience)
	if err := d.s.write(ctx, d.s.enc.SetClock(now)); err != nil {
		return err
	}
	return d.s.write(ctx, d.s.enc.AskStatus())
}

// status begins a download if there is something to fetch.
func (d *download) status(ctx context.Context, st frame.Status) error {
	if !d.asking {
		return nil
	}
	d.asking = false
	if st.Newest < st.Oldest || st.All == 0 {
		d.s.OnNote(carry.Note{What: "storage", Text: "nothing is left in the pendant"})
		d.later(nextLook)
		return nil
	}
	d.reading, d.over, d.paused = true, false, false
	if d.came == nil || st.Oldest != d.mark || st.Newest < d.newest {
		d.mark, d.told = st.Oldest, st.Oldest
		d.came, d.safe = map[uint64]uint64{}, map[uint64]uint64{}
	}
	d.newest, d.stuck = st.Newest, false
	d.batch, d.open, d.waiting = nil, nil, 0
	d.later(silence)
	d.s.in.Reset()
	return d.s.write(ctx, d.s.enc.Stored())
}

// page publishes a page. Its identity follows from its content, so a page that comes again, even
// after a restart, is the same message.
func (d *download) page(ctx context.Context, p *frame.Page, bad error) error {
	if d.over {
		return nil
	}
	d.later(silence)
	switch _, again := d.came[p.Index]; {
	case p.Index < d.mark || p.Index-d.mark >= maxAhead:
	case bad != nil:
		if d.stuck = true; again {
			break // it was reported
		}
		d.came[p.Index] = 0
		d.s.Report.Spoilt++
		d.s.Note("warning", "storage: page %d: %v; it stays in the pendant", p.Index, bad)
		d.s.Losses.Other(fmt.Sprintf("page %d: %v", p.Index, bad), d.s.Now)
	default:
		if err := d.handlePage(ctx, p); err != nil {
			return err
		}
	}
	if p.Index >= d.newest || !d.s.HasRoom() { // the pendant sends on, and what is not taken comes again
		return d.finish(ctx)
	}
	return nil
}

// maxAhead limits the pages that are remembered beyond a hole.
const maxAhead = 1 << 20

// handlePage publishes a page that did not come before, and sends a full batch.
func (d *download) handlePage(ctx context.Context, p *frame.Page) error {
	var data []byte
	var err error
	h := sha256.New()
	fmt.Fprintln(h, p.Index, p.Session, p.At.UnixMilli())
	var lasts time.Duration
	for _, f := range p.Frames {
		h.Write(f)
		lasts += frame.Duration(f)
		if data, err = carry.AppendFrame("opus", data, f); err != nil {
			return err
		}
	}
	seq := binary.BigEndian.Uint64(h.Sum(nil)) >> 11 // below 2^53
	if before, ok := d.came[p.Index]; ok && before == seq {
		return nil
	}
	delete(d.safe, p.Index) // a different page with the same number
	d.came[p.Index] = seq
	if len(data) > 0 && d.s.part.paused(p.At, lasts) {
		d.s.Report.Paused++
		data = nil // the wearer had paused then, but the pendant recorded
	}
	if len(data) > 0 { // otherwise it is a diagnostic page, without anything to lose
		r, err := d.s.Publish(ctx, &wire.Audio{
			Header: wire.Header{Boot: d.s.part.Boot, Seq: seq, At: p.At},
			Codec:  "opus", Rate: rate, Data: data, Last: p.Ends,
		})
		if err != nil {
			return err
		}
		d.open = append(d.open, r)
	}
	if d.batch = append(d.batch, p.Index); len(d.batch) >= every {
		d.send(ctx)
	}
	return nil
}

// send waits for the node to store a batch.
func (d *download) send(ctx context.Context) {
	pages, receipts := map[uint64]uint64{}, d.open
	for _, p := range d.batch {
		pages[p] = d.came[p]
	}
	d.batch, d.open = nil, nil
	d.waiting++
	d.s.Await(ctx, receipts, func(ctx context.Context, end error) error { return d.answered(ctx, pages, end) })
}

// answered moves the mark over the pages that the node has on disk, and tells the pendant to delete
// them.
func (d *download) answered(ctx context.Context, pages map[uint64]uint64, end error) error {
	d.waiting--
	switch {
	case errors.Is(end, wear.ErrPaused):
		d.paused = true // it stays in the pendant until the wearer resumes
		for p := range pages {
			delete(d.came, p)
		}
	case errors.Is(end, wear.ErrRefused):
		d.stuck = true // only the pendant has it
		for p := range pages {
			delete(d.came, p)
		}
	case end != nil:
		return end
	default:
		for p, seq := range pages {
			if d.came[p] == seq {
				d.safe[p] = seq
			}
		}
	}
	for {
		if _, ok := d.safe[d.mark]; !ok {
			break // a hole, or the end
		}
		delete(d.safe, d.mark)
		delete(d.came, d.mark)
		d.mark++
	}
	if d.mark > d.told {
		n := d.mark - d.told
		if err := d.s.write(ctx, d.s.enc.Forget(d.mark-1)); err != nil {
			return err
		}
		d.s.Report.Records += n
		note := carry.Note{What: "storage", From: d.told, To: d.mark}
		if d.newest >= d.mark {
			note.Left = d.newest + 1 - d.mark
		}
		note.Text = fmt.Sprintf("pages %d to %d are with the node; %d left", note.From, note.To-1, note.Left)
		d.told = d.mark
		d.s.OnNote(note)
	}
	return d.done(ctx)
}

// finish ends the reading, and sends what was read.
func (d *download) finish(ctx context.Context) error {
	d.over = true
	if len(d.batch) > 0 {
		d.send(ctx)
	}
	return d.done(ctx)
}

// done returns to live sound once the node has answered everything.
func (d *download) done(ctx context.Context) error {
	if !d.over || d.waiting > 0 {
		return nil
	}
	d.reading = false
	d.later(nextLook)
	switch {
	case d.paused:
		d.s.Note("storage", "not fetched while paused")
	case d.mark <= d.newest:
		reason := fmt.Sprintf("page %d did not come; what follows it stays in the pendant, and is asked for again", d.mark)
		d.s.Note("storage", "%s", reason)
		if d.later(firstLook); d.stuck {
			if d.last != d.mark {
				d.last, d.tries = d.mark, 0
			}
			d.later(min(unreadable<<d.tries, 24*60*60))
			d.tries = min(d.tries+1, 8)
		}
	}
	return d.s.mode(ctx)
}
