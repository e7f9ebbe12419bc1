package memory

import (
	"time"
)

// EpisodicFields: an event in a life. What happened is the memory's text.
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
	if !f.Ended.IsZero() && f.Ended.Before(f.Started) {
		return wrong("episodic.ended", "%s is before started, %s", f.Ended.Format(time.RFC3339), f.Started.Format(time.RFC3339))
	}
	if err := checkText("fields.episodic.details", f.Details, MaxText); err != nil {
		return err
	}
	return names(Episodic, [2]string{"event_type", f.EventType}, [2]string{"actor", f.Actor}, [2]string{"place", f.Place})
}

// Over is when the event of a memory is over: when it ended, or began, or the
// time given where the fields say nothing.
func (f *EpisodicFields) Over(otherwise time.Time) time.Time {
	switch {
	case f == nil || f.Started.IsZero() && f.Ended.IsZero():
		return otherwise
	case f.Ended.IsZero():
		return f.Started
	}
	return f.Ended
}
