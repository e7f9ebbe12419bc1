package memory

import (
	"cmp"
	"time"
)

// EpisodicFields are the fields of an event in a life. What happened is the memory's text.
type EpisodicFields struct {
	EventType string    `json:"event_type"` // conversation, appointment, plan, visit, photo, …
	Details   string    `json:"details,omitempty"`
	Actor     string    `json:"actor,omitempty"`
	Place     string    `json:"place,omitempty"`
	Started   time.Time `json:"started,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
}

func (f *EpisodicFields) validate() error {
	if f == nil {
		return nil
	}
	if err := cmp.Or(checkYear("fields.episodic.started", f.Started), checkYear("fields.episodic.ended", f.Ended)); err != nil {
		return err
	}
	if !f.Ended.IsZero() && f.Ended.Before(f.Started) {
		return wrong("episodic.ended", "%s is before started, %s", f.Ended.Format(time.RFC3339), f.Started.Format(time.RFC3339))
	}
	if err := checkText("fields.episodic.details", f.Details, MaxText); err != nil {
		return err
	}
	return names(Episodic, [2]string{"event_type", f.EventType}, [2]string{"actor", f.Actor}, [2]string{"place", f.Place})
}

// EndTime returns when the event of a memory is over: its end, else its beginning, else the given
// time.
func (f *EpisodicFields) EndTime(otherwise time.Time) time.Time {
	switch {
	case f == nil || f.Started.IsZero() && f.Ended.IsZero():
		return otherwise
	case f.Ended.IsZero():
		return f.Started
	}
	return f.Ended
}

// Begins returns when the event of a memory begins, in the wearer's zone. clock is false if only
// the day is known. The event must have a beginning.
func (m *Memory) Begins(zone *time.Location) (at time.Time, clock bool) {
	started := m.Fields.Episodic.Started.In(zone)
	if m.Slot != nil {
		// The instant of a rule's date was computed with the offset of the day on which it was
		// said. This is an hour off if summer time begins or ends in between.
		switch said, clock, ok := SlotTime(m.Slot.Value, zone); {
		case ok && !clock:
			return said, false
		case ok:
			// Lord Howe's summer time is half an hour.
			if off := said.Sub(started).Abs(); off == time.Hour || off == time.Hour/2 {
				started = said
			}
			return started, true
		}
	}
	return started, started.Hour() != 0 || started.Minute() != 0
}

// StartTime is like Begins, without the clock. If the memory has no event with a beginning, it
// returns the given time.
func (m *Memory) StartTime(zone *time.Location, otherwise time.Time) time.Time {
	if f := m.Fields.Episodic; f == nil || f.Started.IsZero() {
		return otherwise
	}
	at, _ := m.Begins(zone)
	return at
}

// SlotMinute is the layout of a slot's value that is a time with an hour.
const SlotMinute = time.DateOnly + " 15:04"

// SlotTime reads a slot's value that is a date in the speaker's zone: "2026-09-14", or with an
// hour, for which clock is true, "2026-09-14 10:00". ok is false if the value is something else.
func SlotTime(value string, zone *time.Location) (at time.Time, clock, ok bool) {
	if at, err := time.ParseInLocation(time.DateOnly, value, zone); err == nil {
		return at, false, true
	}
	at, err := time.ParseInLocation(SlotMinute, value, zone)
	return at, err == nil, err == nil
}
