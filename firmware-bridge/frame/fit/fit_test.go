package fit

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/muktihari/fit/encoder"
	"github.com/muktihari/fit/profile/factory"
	"github.com/muktihari/fit/profile/typedef"
	"github.com/muktihari/fit/profile/untyped/fieldnum"
	"github.com/muktihari/fit/profile/untyped/mesgnum"
	"github.com/muktihari/fit/proto"
)

// always believes any time.
func always(time.Time) bool { return true }

func file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Files that Garmin's SDK wrote are read as another program reads them.
func TestVectors(t *testing.T) {
	var want struct {
		Sessions []struct {
			Sport                   string
			Start                   time.Time
			Timer, Elapsed, Metres  float64
			Calories, Average, Most int
		}
		Records [][]any // time, lat, lon, heart; null where there is none
	}
	if err := json.Unmarshal(file(t, "run.json"), &want); err != nil {
		t.Fatal(err)
	}
	b := file(t, "run.fit")
	if !Is(b) {
		t.Fatal("Is does not recognise a FIT file")
	}
	f, err := Parse(b, always)
	if err != nil || len(f.Activities) != len(want.Sessions) {
		t.Fatalf("%+v, %v", f, err)
	}
	for i, s := range want.Sessions {
		a := f.Activities[i]
		seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
		if a.Sport != s.Sport || !a.Start.Equal(s.Start) || a.Lasts != seconds(s.Timer) || !a.Ends.Equal(s.Start.Add(seconds(s.Elapsed))) ||
			math.Abs(a.Metres-s.Metres) > .01 || a.Calories != s.Calories || a.Average != s.Average || a.Most != s.Most {
			t.Errorf("%+v, want %+v", a, s)
		}
	}
	sums, counts := map[int64]float64{}, map[int64]float64{}
	at := map[time.Time][2]float64{}
	var last time.Time
	for _, r := range want.Records {
		when, err := time.Parse(time.RFC3339, r[0].(string))
		if err != nil {
			t.Fatal(err)
		}
		last = when
		if r[1] != nil {
			at[when] = [2]float64{r[1].(float64), r[2].(float64)}
		}
		sums[when.Unix()/60] += r[3].(float64)
		counts[when.Unix()/60]++
	}
	first := want.Sessions[0].Start.Unix() / 60
	for i, got := range f.Activities[0].Heart {
		if m := first + int64(i); got != math.Round(sums[m]/counts[m]) {
			t.Errorf("minute %d: %g, want %g", i, got, sums[m]/counts[m])
		}
	}
	if n := int(last.Unix()/60-first) + 1; len(f.Activities[0].Heart) != n {
		t.Errorf("%d minutes, want %d", len(f.Activities[0].Heart), n)
	}
	// 50 minutes, during five of which the runner stood still.
	if n := len(f.Track); n < 44 || n > 47 {
		t.Errorf("%d fixes", n)
	}
	for i, p := range f.Track {
		w, there := at[p.At]
		if !there || math.Abs(p.Lat-w[0]) > 1e-6 || math.Abs(p.Lon-w[1]) > 1e-6 {
			t.Errorf("fix %d: %+v, want %v", i, p, w)
		}
		if i > 0 && p.At.Sub(f.Track[i-1].At) < time.Minute {
			t.Errorf("fix %d is of %s after the one before", i, p.At.Sub(f.Track[i-1].At))
		}
	}
}

// A file without an activity is recognised as such, and a broken one is never taken for a complete
// one.
func TestBad(t *testing.T) {
	if _, err := Parse(file(t, "settings.fit"), always); !errors.Is(err, ErrNone) {
		t.Errorf("settings: %v", err)
	}
	b := file(t, "run.fit")
	for n := range len(b) {
		if n > 2000 && n < len(b)-2000 && n%97 != 0 {
			continue
		}
		if f, err := Parse(b[:n], always); !errors.Is(err, ErrFormat) || errors.Is(err, ErrNone) || f != nil {
			t.Fatalf("%d bytes of %d: %v", n, len(b), err)
		}
	}
	for at := 0; at < len(b); at += 41 {
		spoilt := bytes.Clone(b)
		spoilt[at] ^= 0x10
		if f, err := Parse(spoilt, always); err == nil || f != nil {
			t.Fatalf("byte %d may be another", at)
		}
	}
}

// made encodes a file with an activity's messages.
func made(t testing.TB, options []encoder.Option, messages ...proto.Message) []byte {
	t.Helper()
	return madeOf(t, typedef.FileActivity, options, messages...)
}

func madeOf(t testing.TB, kind typedef.File, options []encoder.Option, messages ...proto.Message) []byte {
	t.Helper()
	id := proto.Message{Num: mesgnum.FileId, Fields: []proto.Field{
		factory.CreateField(mesgnum.FileId, fieldnum.FileIdType).WithValue(kind.Byte()),
	}}
	var b bytes.Buffer
	all := []proto.Message{id}
	for _, m := range messages { // the encoder changes its input
		m.Fields = slices.Clone(m.Fields)
		all = append(all, m)
	}
	if err := encoder.New(&b, options...).Encode(&proto.FIT{Messages: all}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// stamp is a time in FIT's seconds.
func stamp(at time.Time) uint32 { return uint32(at.Unix() - epoch) }

func session(sport typedef.Sport, start time.Time, seconds uint32) proto.Message {
	field := func(n byte, v any) proto.Field { return factory.CreateField(mesgnum.Session, n).WithValue(v) }
	return proto.Message{Num: mesgnum.Session, Fields: []proto.Field{
		field(fieldnum.SessionTimestamp, stamp(start)+seconds), field(fieldnum.SessionStartTime, stamp(start)),
		field(fieldnum.SessionSport, uint8(sport)), field(fieldnum.SessionTotalTimerTime, 1000*seconds),
	}}
}

func record(at uint32, heart uint8, lat, lon int32) proto.Message {
	field := func(n byte, v any) proto.Field { return factory.CreateField(mesgnum.Record, n).WithValue(v) }
	return proto.Message{Num: mesgnum.Record, Fields: []proto.Field{
		field(fieldnum.RecordTimestamp, at), field(fieldnum.RecordHeartRate, heart), field(fieldnum.RecordPositionLat, lat), field(fieldnum.RecordPositionLong, lon),
	}}
}

// Several sports in one file, the sums before or after the readings; either byte order; times in
// five bits; a second file after the first; a very long track.
func TestFileVariants(t *testing.T) {
	start := time.Date(2026, 6, 7, 6, 0, 0, 0, time.UTC)
	swim, ride := session(typedef.SportSwimming, start, 600), session(typedef.SportCycling, start.Add(15*time.Minute), 3600)
	var ridden []proto.Message
	for i := range 3600 {
		ridden = append(ridden, record(stamp(start.Add(15*time.Minute))+uint32(i), 120, int32(6e8+1000*i), 1e8))
	}
	after := append(append([]proto.Message{}, ridden...), swim, ride)
	before := append([]proto.Message{swim, ride}, ridden...)
	for name, b := range map[string][]byte{
		"sums behind":        made(t, nil, after...),
		"sums before":        made(t, nil, before...),
		"big-endian":         made(t, []encoder.Option{encoder.WithBigEndian()}, after...),
		"times in five bits": made(t, []encoder.Option{encoder.WithHeaderOption(encoder.HeaderOptionCompressedTimestamp, 0)}, after...),
		"two files in a row": append(made(t, nil, append(append([]proto.Message{}, ridden...), swim)...), made(t, nil, ride)...),
	} {
		f, err := Parse(b, always)
		if err != nil || len(f.Activities) != 2 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s, r := f.Activities[0], f.Activities[1]
		if s.Sport != "swimming" || s.Lasts != 10*time.Minute || len(s.Heart) != 0 || r.Sport != "cycling" || len(r.Heart) != 60 || r.Heart[59] != 120 || len(f.Track) != 60 {
			t.Errorf("%s: %d minutes and %d, %d fixes: %+v", name, len(s.Heart), len(r.Heart), len(f.Track), s)
		}
	}
	var long []proto.Message
	for i := range 20_000 {
		long = append(long, record(stamp(start)+uint32(60*i), 100, int32(6e8-10_000*i), 1e8))
	}
	f, err := Parse(made(t, nil, append(long, session(typedef.SportHiking, start, 60*20_000))...), always)
	if err != nil || len(f.Track) > maxTrack || len(f.Track) < maxTrack/4 || len(f.Activities[0].Heart) > maxMinutes {
		t.Errorf("%d fixes, %v", len(f.Track), err)
	}
	if end := f.Track[len(f.Track)-1].At; end.Before(start.Add(19_900 * time.Minute)) {
		t.Errorf("the last fix is of %s", end)
	}
}

// An unusable activity is reported, and the file is not taken for one without an activity; the
// other activities of the file are returned.
func TestUnusableActivity(t *testing.T) {
	start := time.Date(2026, 6, 7, 6, 0, 0, 0, time.UTC)
	believed := func(at time.Time) bool { return at.Year() == 2026 }
	run := session(typedef.SportRunning, start, 600)
	clockless := session(typedef.SportRunning, start, 600)
	clockless.Fields[1] = factory.CreateField(mesgnum.Session, fieldnum.SessionStartTime).WithValue(uint32(1000))
	future := session(typedef.SportRunning, start.AddDate(9, 0, 0), 600)
	many := make([]proto.Message, maxActivities+1)
	for i := range many {
		many[i] = session(typedef.SportRunning, start.Add(time.Duration(i)*time.Hour), 600)
	}
	heard := record(stamp(start), 120, 6e8, 1e8)
	for name, tt := range map[string]struct {
		messages []proto.Message
		used     int
		want     string
	}{
		"without a clock":             {[]proto.Message{clockless, heard}, 0, "fit: none of its activities can be used, of 1: one has no time"},
		"of another year":             {[]proto.Message{future}, 0, "fit: none of its activities can be used, of 1: one is of 2035-06-07T06:00:00Z, which is not a plausible time"},
		"one of three":                {[]proto.Message{run, future, run}, 2, "fit: not all activities: 1 of 3 are left out: one is of 2035-06-07T06:00:00Z, which is not a plausible time"},
		"more than a file has":        {many, maxActivities, "fit: not all activities: 1 of 65 are left out: one is over the 64 that are taken from a file"},
		"the device died on the way":  {[]proto.Message{heard, heard}, 0, "fit: an activity that the device did not finish (readings: 2)"},
		"it died and never had clock": {[]proto.Message{record(1000, 120, 6e8, 1e8)}, 0, "fit: an activity that the device did not finish (readings: 1)"},
	} {
		f, err := Parse(made(t, nil, tt.messages...), believed)
		used := 0
		if f != nil {
			used = len(f.Activities)
		}
		if err == nil || err.Error() != tt.want || errors.Is(err, ErrNone) || errors.Is(err, ErrPart) != (f != nil) || used != tt.used {
			t.Errorf("%s: %d activities, %v", name, used, err)
		}
	}
	if _, err := Parse(madeOf(t, typedef.FileCourse, nil, heard), believed); !errors.Is(err, ErrNone) {
		t.Errorf("a way to go: %v", err)
	}
}

// A fix whose time is not believed, or lies ahead of the others, does not remove any other fix.
func TestFixInTheFuture(t *testing.T) {
	start := time.Date(2026, 6, 7, 6, 0, 0, 0, time.UTC)
	for _, ahead := range []time.Time{start.AddDate(9, 0, 0), start.Add(20 * time.Hour)} {
		messages := []proto.Message{record(stamp(ahead), 100, 5e8, 1e8)}
		for i := range 10 {
			messages = append(messages, record(stamp(start)+uint32(60*i), 100, int32(6e8-10_000*i), 1e8))
		}
		f, err := Parse(made(t, nil, append(messages, session(typedef.SportHiking, start, 600))...), func(at time.Time) bool { return at.Year() == 2026 })
		if err != nil {
			t.Fatal(err)
		}
		want := 10
		if ahead.Year() == 2026 {
			want++
		}
		if len(f.Track) != want {
			t.Errorf("%s: %d fixes, want %d", ahead, len(f.Track), want)
		}
	}
}

// A sport without a name here is still a sport.
func TestSportUnknown(t *testing.T) {
	for n, want := range map[typedef.Sport]string{200: "generic", 255: "generic", typedef.SportRowing: "rowing"} {
		f, err := Parse(made(t, nil, session(n, time.Date(2026, 6, 7, 6, 0, 0, 0, time.UTC), 600)), always)
		if err != nil || f.Activities[0].Sport != want {
			t.Errorf("%d: %+v, %v", n, f, err)
		}
	}
}

// Any bytes make an activity or an error, and never more data than is useful.
func FuzzParse(f *testing.F) {
	f.Add(file(f, "run.fit")[:600])
	f.Add(file(f, "settings.fit"))
	f.Add(made(f, nil, session(typedef.SportRunning, time.Unix(1.7e9, 0), 60), record(1e9, 100, 0, 0)))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Parse(b, always)
		if err != nil && (!errors.Is(err, ErrFormat) || (got != nil) != errors.Is(err, ErrPart)) {
			t.Fatal(err)
		}
		if got == nil {
			return
		}
		if len(got.Activities) == 0 || len(got.Activities) > maxActivities || len(got.Track) > maxTrack {
			t.Errorf("%d activities, %d fixes", len(got.Activities), len(got.Track))
		}
		for _, a := range got.Activities {
			if a.Start.IsZero() || a.Ends.Before(a.Start) || len(a.Heart) > maxMinutes+1 {
				t.Errorf("%+v", a)
			}
		}
		for _, p := range got.Track {
			if math.Abs(p.Lat) > 90 || math.Abs(p.Lon) > 180 {
				t.Errorf("%+v", p)
			}
		}
	})
}
