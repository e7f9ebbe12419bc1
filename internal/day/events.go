package day

import (
	"fmt"
	"iter"
	"time"

	"github.com/locket-dev/locket/internal/media"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Event is what a wearable publishes for a line, or for a part of one. ID has the device, the boot
// and the sequence number, At the time on the clock; Received is set by the node.
type Event struct {
	Line int // of day.jsonl; for a file replayed on its own, its line or packet
	memory.Event
}

// Part is the duration of the sound in one audio event.
const Part = time.Second

// DayBoot is the boot number of the wearables of a day.
const DayBoot = 1

// Events returns what the day's wearables publish, in order. Each device numbers its events from 1;
// a gap skips the numbers that it reports as missing, and is an event itself.
func (d *Day) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		seq := sequencer{}
		for i := range d.Lines {
			l := &d.Lines[i]
			// The files were read when the day was loaded or made.
			events, err := l.events(d.files[l.File], d.Zone)
			if err != nil {
				continue
			}
			for _, e := range events {
				seq.number(&e.Event, DayBoot)
				if !yield(e) {
					return
				}
			}
		}
	}
}

// LineOf finds the line of an event. It ignores the boot.
func (d *Day) LineOf(id memory.EventID) (int, bool) {
	for e := range d.Events() {
		if e.ID.Device == id.Device && e.ID.Seq == id.Seq {
			return e.Line, true
		}
	}
	return 0, false
}

// sequencer has the last sequence number of each device.
type sequencer map[string]uint64

// number gives e the next number of its device. For a gap, Missing.To is the count of missing
// events before, and the numbers are set afterwards.
func (s sequencer) number(e *memory.Event, boot uint64) {
	device := e.ID.Device
	if e.Missing != nil {
		from := s[device] + 1
		s[device] += e.Missing.To
		e.Missing = &memory.Range{From: from, To: s[device]}
	}
	s[device]++
	e.ID.Boot, e.ID.Seq = boot, s[device]
}

// events turns a line into events without numbers. file is the file that the line names.
func (l *Line) events(file []byte, zone string) ([]Event, error) {
	e := Event{Line: l.Number, Event: memory.Event{
		ID: memory.EventID{Device: l.Device}, Kind: l.Kind, At: l.At, Clock: memory.ClockWall, Zone: zone,
		Text: l.Text, Speaker: l.Speaker, Lang: l.Lang,
		Values: l.Values, Unit: l.Unit, Reason: l.Reason,
	}}
	switch l.Kind {
	case memory.KindAudio:
		events, _, err := audioEvents(e, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.File, err)
		}
		return events, nil
	case memory.KindPhoto:
		if _, _, err := media.Picture(file); err != nil {
			return nil, fmt.Errorf("%s: %w", l.File, err)
		}
		e.Codec, e.Data = string(media.Sniff(file)), file
	case memory.KindLocation:
		e.Place = &memory.Place{Lat: l.Lat, Lon: l.Lon, Accuracy: l.Accuracy, Name: l.Name}
	case memory.KindSensor, memory.KindButton:
		e.Name = l.Name
	case memory.KindGap:
		e.Missing = &memory.Range{To: l.Missing}
	}
	return []Event{e}, nil
}

// audioEvents cuts a WAV or Ogg Opus file into parts, and returns the time at which its sound ends.
func audioEvents(first Event, file []byte) ([]Event, time.Time, error) {
	if media.Sniff(file) == media.OggOpus {
		return opusEvents(first, file)
	}
	s, err := media.ReadWAV(file)
	if err != nil {
		return nil, first.At, err
	}
	return soundEvents(first, s), first.At.Add(s.Duration()), nil
}

// soundEvents cuts a sound into parts of [Part]; the last may be shorter, and is marked as the
// last. A sound without samples is one empty last part.
func soundEvents(first Event, s media.Sound) []Event {
	size := 2 * int(int64(s.Rate)*int64(Part)/int64(time.Second))
	var events []Event
	for from := 0; ; from += size {
		e := first
		e.At = first.At.Add(time.Duration(from/2) * time.Second / time.Duration(s.Rate))
		e.Codec, e.Rate = "pcm16", s.Rate
		e.Data = s.PCM[from:min(from+size, len(s.PCM))]
		e.Last = from+size >= len(s.PCM)
		events = append(events, e)
		if e.Last {
			return events
		}
	}
}

// opusRate is the rate at which every Ogg Opus file is played (RFC 7845).
const opusRate = 48000

// opusEvents cuts an Ogg Opus file into parts of [Part], each of complete packets. The last part
// may be shorter, and is marked as the last. It also returns the time at which the sound ends.
func opusEvents(first Event, b []byte) ([]Event, time.Time, error) {
	packets, _, err := media.ReadOpus(b)
	if err != nil {
		return nil, first.At, err
	}
	first.Codec, first.Rate = "opus", opusRate
	var events []Event
	part, end := first, first.At
	for i, p := range packets {
		if part.Data, err = wire.AppendPacket(part.Data, p.Data); err != nil {
			return nil, first.At, err
		}
		end = end.Add(p.Duration)
		if part.Last = i == len(packets)-1; part.Last || end.Sub(part.At) >= Part {
			events = append(events, part)
			part = first
			part.At = end
		}
	}
	return events, end, nil
}
