package omi

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Firmware before 3.0.20 stores sound in a file of blocks of 440 bytes, which have neither time nor
// number. So a block's identity is derived from its content. Its time is reckoned back from the
// newest sound, which is taken to be from the moment when the bridge connected. A pause in the
// middle can't be seen: the sound before it seems later than it was.

// legacyState is stored across restarts, as the part "legacy":
//
//	boot  boot under which blocks are published
//	used   bytes of the file when end was set
//	end  reckoned time of its newest sound
//	block  how long a block lasts, ns
//	done   bytes that are on the node's disk
//	last   SHA-256 of the block before done
type legacyState struct {
	Boot  uint64        `json:"boot"`
	Used  uint32        `json:"used,omitempty"`
	End   time.Time     `json:"end,omitzero"`
	Block time.Duration `json:"block,omitempty"`
	Done  uint32        `json:"done,omitempty"`
	Last  string        `json:"last,omitempty"`
}

const (
	legacyPart  = "legacy"
	legacyHead  = 64 // blocks from which the duration of a block is reckoned
	legacyBatch = 50 // blocks that are sent to the node together
)

// legacy fetches the file. An error of its methods ends the connection.
type legacy struct {
	s     *session
	kept  legacyState
	phase phase
	until time.Time
	pause time.Duration // wait after the next failure

	used    uint32   // bytes of the file
	from    uint32   // offset at which this reading began
	pos     uint32   // offset of the next block
	begun   bool     // the device has confirmed the reading
	head    [][]byte // blocks that wait until the duration of a block is known
	batch   []*wear.Receipt
	waiting int  // batches that the node has not answered
	read    bool // the whole file has come
	paused  bool
	safe    map[uint64]bool // blocks that the node has, in this connection, by their number
	sent    []uint64        // numbers of batch
	grew    bool            // safe has more than at the end of the last reading
}

func (s *session) openLegacy(ctx context.Context) error {
	d := &legacy{s: s, pause: s.FirstWait, safe: map[uint64]bool{}}
	if err := s.State.Stored(legacyPart, &d.kept, &d.kept.Boot); err != nil {
		return err
	}
	if err := s.Dev.Subscribe(ctx, frame.StorageChar); err != nil {
		return err
	}
	s.store = d
	return nil
}

func (d *legacy) saveState() error { return d.s.State.Keep(legacyPart, d.kept) }

func (d *legacy) command(ctx context.Context, next phase, c frame.LegacyCommand, offset uint32) error {
	d.phase, d.until = next, time.Now().Add(d.s.patience())
	return d.s.Dev.Write(ctx, frame.StorageChar, c.Bytes(offset))
}

func (d *legacy) fail(ctx context.Context, err error) error {
	d.s.Note("warning", "storage: %v; again in %s", err, d.pause)
	d.phase, d.until = idle, time.Now().Add(d.pause)
	d.pause = min(2*d.pause, maxPause)
	return d.s.Dev.Write(ctx, frame.StorageChar, frame.LegacyStop.Bytes(0))
}

func (d *legacy) tick(ctx context.Context, now time.Time) error {
	switch {
	case d.phase == publishing || now.Before(d.until) || d.waiting > 0:
		return nil
	case d.phase != idle:
		return d.fail(ctx, errors.New("no answer"))
	case d.s.Client.Paused(), !d.s.HasRoom(), d.s.IsMetered(ctx, carry.StoredSound):
		return nil
	}
	b, err := d.s.Dev.Read(ctx, frame.StorageState)
	if err != nil {
		return err
	}
	state, err := frame.ParseStorage(b)
	if err != nil || state.Ring {
		return d.fail(ctx, fmt.Errorf("its state has changed: %w", errors.Join(err, frame.ErrFormat)))
	}
	if state.Used == 0 {
		clear(d.safe)
		d.until = now.Add(freshStock)
		d.s.OnNote(carry.Note{What: "storage", Text: "nothing is left in the device"})
		return nil
	}
	return d.begin(ctx, state.Used)
}

// begin reads from where the node has everything, and one block before that, which shows whether it
// is the same file.
func (d *legacy) begin(ctx context.Context, used uint32) error {
	if used < d.kept.Done || d.kept.Last == "" {
		d.kept.Done, d.kept.Last = 0, ""
	}
	if used != d.kept.Used {
		d.kept.Used, d.kept.End = used, time.Now()
	}
	d.used, d.from = used, d.kept.Done
	if d.kept.Done > 0 {
		d.from -= frame.LegacyBlock
	}
	d.pos, d.begun, d.read, d.paused = d.from, false, false, false
	d.head, d.batch, d.sent = nil, nil, nil
	return d.command(ctx, reading, frame.LegacyRead, d.from)
}

func (d *legacy) notified(ctx context.Context, b []byte) error {
	block, status, err := frame.ParseLegacy(b)
	switch {
	case d.phase != reading && d.phase != advancing:
		return nil
	case err != nil:
		return d.fail(ctx, err)
	case block != nil && d.phase == reading && d.begun:
		d.until = time.Now().Add(d.s.patience())
		return d.handleBlock(ctx, block)
	case block != nil:
		return nil // it belongs to a reading that was stopped
	case status.Failed():
		return d.fail(ctx, fmt.Errorf("the device answers %d", status))
	case d.phase == reading && status == frame.LegacyOK:
		d.begun = true
	case d.phase == reading && status == frame.LegacyDone && d.begun:
		return d.end(ctx)
	case d.phase == advancing && status == frame.LegacyDeleted:
		d.pause = d.s.FirstWait
		d.s.Report.Records += uint64((d.used + frame.LegacyBlock - 1) / frame.LegacyBlock)
		d.s.OnNote(carry.Note{What: "storage", Text: fmt.Sprintf("%d bytes are with the node; the device has deleted them", d.used)})
		d.kept = legacyState{Boot: d.kept.Boot}
		clear(d.safe) // the next file is another one
		d.phase, d.until = idle, time.Time{}
		return d.saveState()
	}
	return nil
}

func (d *legacy) handleBlock(ctx context.Context, block []byte) error {
	if d.pos == d.from && d.kept.Done > 0 {
		if sum := sha256.Sum256(block); hex.EncodeToString(sum[:]) != d.kept.Last {
			d.kept.Done, d.kept.Last = 0, "" // a different file
			return d.fail(ctx, errors.New("the file was begun anew"))
		}
	}
	at := d.pos
	d.pos += uint32(len(block))
	if at < d.kept.Done {
		return nil
	}
	block = append([]byte(nil), block...)
	if d.kept.Block == 0 {
		if d.head = append(d.head, block); len(d.head) < legacyHead {
			return nil
		}
		return d.flushHead(ctx)
	}
	if err := d.publish(ctx, block, at); err != nil || d.s.HasRoom() {
		return err
	}
	d.phase, d.until = idle, time.Now().Add(d.s.FirstWait) // later, from what the node then has
	return d.s.Dev.Write(ctx, frame.StorageChar, frame.LegacyStop.Bytes(0))
}

// flushHead reckons how long a block lasts, and publishes the blocks that waited for it.
func (d *legacy) flushHead(ctx context.Context) error {
	head := d.head
	d.head = nil
	if len(head) == 0 {
		return nil
	}
	var all time.Duration
	size := 0
	for _, b := range head {
		size += len(b)
		for _, f := range frame.LegacyFrames(b) {
			all += d.s.codec.Duration(f)
		}
	}
	d.kept.Block = max(all/time.Duration(len(head)), time.Millisecond)
	at := d.pos - uint32(size)
	for _, b := range head {
		if err := d.publish(ctx, b, at); err != nil {
			return err
		}
		at += uint32(len(b))
	}
	return nil
}

func (d *legacy) publish(ctx context.Context, block []byte, at uint32) error {
	var data []byte
	for _, f := range frame.LegacyFrames(block) {
		longer, err := carry.AppendFrame(d.s.codec.Name, data, f)
		if err != nil {
			d.s.NoteDamaged(err.Error())
			continue
		}
		data = longer
	}
	sum := sha256.Sum256(block)
	seq := binary.BigEndian.Uint64(sum[:]) >> 11 // below 2^53
	if len(data) > 0 && !d.safe[seq] {
		left := time.Duration(float64(d.kept.Used-min(at, d.kept.Used)) / frame.LegacyBlock * float64(d.kept.Block))
		r, err := d.s.Publish(ctx, &wire.Audio{
			Header: wire.Header{Boot: d.kept.Boot, Seq: seq, At: d.kept.End.Add(-left)},
			Codec:  d.s.codec.Name, Rate: d.s.codec.Rate, Data: data, Last: at+uint32(len(block)) >= d.used,
		})
		if err != nil {
			return err
		}
		d.batch = append(d.batch, r)
	}
	d.sent = append(d.sent, seq)
	if len(d.sent) >= legacyBatch {
		d.send(ctx, at+uint32(len(block)), sum)
	}
	return nil
}

// send waits for the node to have everything up to an offset.
func (d *legacy) send(ctx context.Context, upTo uint32, last [32]byte) {
	receipts, sent := d.batch, d.sent
	d.batch, d.sent = nil, nil
	d.waiting++
	d.s.Await(ctx, receipts, func(ctx context.Context, end error) error {
		d.waiting--
		switch {
		case errors.Is(end, wear.ErrPaused):
			d.paused = true
		case errors.Is(end, wear.ErrRefused):
			d.paused = true // only the device has it
		case end != nil:
			return end
		case !d.paused:
			for _, seq := range sent {
				d.grew = d.grew || !d.safe[seq]
				d.safe[seq] = true
			}
			d.kept.Done, d.kept.Last = upTo, hex.EncodeToString(last[:])
			if upTo%frame.LegacyBlock != 0 {
				d.kept.Last = "" // the file may continue in that block
			}
			if err := d.saveState(); err != nil {
				return err
			}
		}
		return d.settle(ctx)
	})
}

// end handles the end of the file.
func (d *legacy) end(ctx context.Context) error {
	if err := d.flushHead(ctx); err != nil {
		return err
	}
	d.read, d.phase = true, publishing
	d.send(ctx, d.pos, [32]byte{})
	return nil
}

// complete reports whether everything came, in one reading from the beginning or in several. Blocks
// have no numbers, so only their count shows a lost one.
func (d *legacy) complete() bool {
	return d.pos >= d.used || len(d.safe) >= int((d.used+frame.LegacyBlock-1)/frame.LegacyBlock)
}

// settle tells the device to delete the file once the node has all of it.
func (d *legacy) settle(ctx context.Context) error {
	switch {
	case !d.read || d.waiting > 0 || d.phase != publishing:
		return nil
	case d.paused:
		d.phase, d.until = idle, time.Now().Add(d.s.FirstWait)
		d.s.Note("storage", "not fetched while paused")
		return nil
	case !d.complete():
		if d.grew {
			d.grew, d.pause = false, d.s.FirstWait
		}
		d.kept.Done, d.kept.Last = 0, ""
		return d.fail(ctx, fmt.Errorf("%d bytes of %d did not come", d.used-d.pos, d.used))
	}
	d.kept.Done, d.kept.Last = 0, "" // after a kill from here on the file is read from the start, since it may be a different one
	if err := d.saveState(); err != nil {
		return err
	}
	return d.command(ctx, advancing, frame.LegacyDelete, 0)
}
