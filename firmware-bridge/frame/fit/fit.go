// Package fit reads an activity that a watch or bike computer recorded, from a file in Garmin's FIT
// format, which other makers use too. Bytes in, values out; it does no input or output.
//
// The words:
//
//   - An activity is one sport from its start to its end. A file has one, or several for a
//     triathlon.
//   - The file has a reading of position and heart rate each second. This package keeps what a
//     memory can use: a place a minute, and the average heart rate of each minute.
package fit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/muktihari/fit/decoder"
	"github.com/muktihari/fit/profile/basetype"
	"github.com/muktihari/fit/profile/typedef"
	"github.com/muktihari/fit/profile/untyped/fieldnum"
	"github.com/muktihari/fit/profile/untyped/mesgnum"
	"github.com/muktihari/fit/proto"
)

var (
	// ErrFormat: the file is broken, or incomplete. The errors below wrap it.
	ErrFormat = errors.New("fit")
	// ErrNone: the file is complete, but not an activity: settings, for example, or the steps of a
	// day.
	ErrNone = fmt.Errorf("%w: no activity", ErrFormat)
	// ErrPart: some activities of the file can't be used. The others are returned.
	ErrPart = fmt.Errorf("%w: not all activities", ErrFormat)
)

// Activity is one sport.
type Activity struct {
	Sport    string        // in FIT's words: running, cycling, cross_country_skiing; generic: not known
	Start    time.Time     // by the device's clock
	Lasts    time.Duration // without pauses; 0: not known
	Ends     time.Time     // with pauses; never before Start
	Metres   float64       // 0: not known
	Calories int           // kcal; 0: not known
	Average  int           // average heart rate, beats a minute; 0: not known
	Most     int           // highest heart rate, likewise
	Heart    []float64     // average heart rate in each minute from Start, beats a minute; 0 if there was no reading
}

// Fix is where the device was.
type Fix struct {
	At       time.Time
	Lat, Lon float64 // degrees
}

// File is the useful content of a file.
type File struct {
	Activities []Activity // in the file's order, at least one
	Track      []Fix      // at most maxTrack, in the file's order
}

const (
	maxTrack      = 1000
	maxMinutes    = 1 << 14 // minutes with a heart reading: eleven days
	maxActivities = 64
	apart         = time.Minute // between two fixes, or longer if there would be too many
	nearby        = 50          // metres: a fix that is closer to the last one is dropped
)

// epoch is FIT's, 1989-12-31. A time below relative counts from when the device was turned on.
const (
	epoch    = 631065600
	relative = 0x10000000
)

// Is reports whether a file begins with a FIT header.
func Is(b []byte) bool {
	return len(b) >= 12 && (b[0] == 12 || b[0] == 14) && string(b[8:12]) == ".FIT"
}

// minute sums the heart readings of one minute.
type minute struct{ sum, n int }

// reader gathers what is useful while a file is decoded.
type reader struct {
	file     File
	believed func(time.Time) bool
	heart    map[int64]minute // by minutes since 1970
	every    time.Duration    // between two fixes
	planned  bool             // the file is a planned route, not a recorded one
	sessions int              // sessions that were read, including those that can't be used
	records  int              // records that were read, likewise
	odd      string           // why the first unusable session can't be used
}

// Parse reads a file, which may be several FIT files in a row. Sessions and records without a
// believed time are left out. With ErrPart it returns a file, with any other error none.
func Parse(b []byte, believed func(time.Time) bool) (*File, error) {
	r := &reader{believed: believed, heart: map[int64]minute{}, every: apart}
	dec := decoder.New(bytes.NewReader(b), decoder.WithMesgListener(r), decoder.WithBroadcastOnly(), decoder.WithNoComponentExpansion())
	for dec.Next() {
		if _, err := dec.Decode(); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil, fmt.Errorf("%w: its end is missing: %v", ErrFormat, err)
			}
			return nil, fmt.Errorf("%w: %v", ErrFormat, err)
		}
	}
	used := len(r.file.Activities)
	switch {
	case r.sessions == 0 && r.records == 0:
		return nil, ErrNone
	case r.sessions == 0:
		return nil, fmt.Errorf("%w: an activity that the device did not finish (readings: %d)", ErrFormat, r.records)
	case used == 0:
		return nil, fmt.Errorf("%w: none of its activities can be used, of %d: one %s", ErrFormat, r.sessions, r.odd)
	}
	for i := range r.file.Activities {
		r.beats(&r.file.Activities[i])
	}
	if used < r.sessions {
		return &r.file, fmt.Errorf("%w: %d of %d are left out: one %s", ErrPart, r.sessions-used, r.sessions, r.odd)
	}
	return &r.file, nil
}

// OnMesg is called by the decoder for each message.
func (r *reader) OnMesg(m proto.Message) {
	switch m.Num {
	case mesgnum.FileId:
		r.planned = m.FieldValueByNum(fieldnum.FileIdType).Uint8() == typedef.FileCourse.Byte()
	case mesgnum.Session:
		r.session(&m)
	case mesgnum.Record:
		r.record(&m)
	}
}

// when returns a field's time; zero if there is none, or the device had no clock.
func when(m *proto.Message, field byte) time.Time {
	v := m.FieldValueByNum(field).Uint32()
	if v == basetype.Uint32Invalid || v < relative {
		return time.Time{}
	}
	return time.Unix(epoch+int64(v), 0).UTC()
}

// scaled returns a field of 32 bits, divided by by; 0 if there is none.
func scaled(m *proto.Message, field byte, by float64) float64 {
	v := m.FieldValueByNum(field).Uint32()
	if v == basetype.Uint32Invalid {
		return 0
	}
	return float64(v) / by
}

// small returns a field of 8 bits; 0 if there is none.
func small(m *proto.Message, field byte) int {
	v := m.FieldValueByNum(field).Uint8()
	if v == basetype.Uint8Invalid {
		return 0
	}
	return int(v)
}

func (r *reader) session(m *proto.Message) {
	r.sessions++
	start, odd := when(m, fieldnum.SessionStartTime), ""
	switch {
	case start.IsZero():
		odd = "has no time"
	case !r.believed(start):
		odd = "is of " + start.Format(time.RFC3339) + ", which is not a plausible time"
	case len(r.file.Activities) == maxActivities:
		odd = fmt.Sprintf("is over the %d that are taken from a file", maxActivities)
	}
	if odd != "" {
		r.odd = cmp.Or(r.odd, odd)
		return
	}
	seconds := func(field byte) time.Duration {
		return time.Duration(scaled(m, field, 1000) * float64(time.Second))
	}
	a := Activity{
		Sport: sport(small(m, fieldnum.SessionSport)), Start: start, Lasts: seconds(fieldnum.SessionTotalTimerTime),
		Metres: scaled(m, fieldnum.SessionTotalDistance, 100), Average: small(m, fieldnum.SessionAvgHeartRate), Most: small(m, fieldnum.SessionMaxHeartRate),
	}
	a.Ends = start.Add(max(a.Lasts, seconds(fieldnum.SessionTotalElapsedTime)))
	if v := m.FieldValueByNum(fieldnum.SessionTotalCalories).Uint16(); v != basetype.Uint16Invalid {
		a.Calories = int(v)
	}
	r.file.Activities = append(r.file.Activities, a)
}

// sport returns the name of a sport's number. Makers have numbers of their own, and new ones are
// added.
func sport(n int) string {
	name := typedef.Sport(n).String()
	if typedef.SportFromString(name) == typedef.SportInvalid {
		return typedef.SportGeneric.String()
	}
	return name
}

func (r *reader) record(m *proto.Message) {
	if r.planned {
		return
	}
	r.records++
	at := when(m, fieldnum.RecordTimestamp)
	if at.IsZero() || !r.believed(at) {
		return
	}
	if beats := small(m, fieldnum.RecordHeartRate); beats > 0 {
		i := at.Unix() / 60
		if had, there := r.heart[i]; there || len(r.heart) < maxMinutes {
			r.heart[i] = minute{had.sum + beats, had.n + 1}
		}
	}
	lat, lon := m.FieldValueByNum(fieldnum.RecordPositionLat).Int32(), m.FieldValueByNum(fieldnum.RecordPositionLong).Int32()
	if lat == basetype.Sint32Invalid || lon == basetype.Sint32Invalid {
		return
	}
	f := Fix{at, degrees(lat), degrees(lon)}
	if n := len(r.file.Track); math.Abs(f.Lat) > 90 || n > 0 && (at.Sub(r.file.Track[n-1].At).Abs() < r.every || metres(r.file.Track[n-1], f) < nearby) {
		return
	}
	if r.file.Track = append(r.file.Track, f); len(r.file.Track) > maxTrack {
		kept := r.file.Track[:0]
		for i := 0; i < len(r.file.Track); i += 2 {
			kept = append(kept, r.file.Track[i])
		}
		r.file.Track, r.every = kept, 2*r.every
	}
}

// degrees converts FIT's semicircles: 180° are 2³¹.
func degrees(v int32) float64 { return float64(v) * 180 / (1 << 31) }

// metres is the distance between two fixes, accurate enough for near ones.
func metres(a, b Fix) float64 {
	const degree = 111_195
	east := (b.Lon - a.Lon) * math.Cos(a.Lat*math.Pi/180)
	return degree * math.Hypot(b.Lat-a.Lat, east)
}

// beats sets an activity's heart rate by the minute.
func (r *reader) beats(a *Activity) {
	first, last := a.Start.Unix()/60, min(a.Ends.Unix()/60, a.Start.Unix()/60+maxMinutes)
	used := 0
	for i := first; i <= last; i++ {
		v := 0.0
		if m := r.heart[i]; m.n > 0 {
			v = math.Round(float64(m.sum) / float64(m.n))
			used = len(a.Heart) + 1
		}
		a.Heart = append(a.Heart, v)
	}
	a.Heart = a.Heart[:used]
}
