package files_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muktihari/fit/encoder"
	"github.com/muktihari/fit/profile/factory"
	"github.com/muktihari/fit/profile/typedef"
	"github.com/muktihari/fit/profile/untyped/fieldnum"
	"github.com/muktihari/fit/profile/untyped/mesgnum"
	"github.com/muktihari/fit/proto"

	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/files"
	"github.com/locket-dev/locket/firmware-bridge/frame/fit"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

const fitData = "../../frame/fit/testdata/"

// A run in the folder becomes a line with its time, the heart rate and the way, once, however many
// names the file has. A watch's settings are not reported as a loss, half of a run is.
func TestActivity(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), carrytest.NewNode(t)
	run := read(t, fitData+"run.fit")
	put(t, dir, "GARMIN/ACTIVITY/run.fit", run)
	put(t, dir, "sent/2026-05-02.FIT", run)
	put(t, dir, "GARMIN/SETTINGS/settings.fit", read(t, fitData+"settings.fit"))
	put(t, dir, "GARMIN/ACTIVITY/half.fit", run[:len(run)/2])
	b := n.Bridge(t, carrytest.StatePath(t), files.Family, &link.Folder{Dir: dir, Every: 10 * time.Millisecond, SettleTime: 30 * time.Millisecond})
	passed := b.NoteWith(`"settings.fit" has no activity`)
	stop := b.Start(t)
	n.Disk.Until(t, "the half", func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindGap)) == 1 })
	n.Disk.Until(t, "the run", func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindLocation)) >= 44 })
	carrytest.Await(t, passed)
	if rep := stop(); rep.Records != 1 || rep.Spoilt != 1 || rep.Refused+rep.Waiting != 0 {
		t.Errorf("%+v", rep)
	}
	start := time.Date(2026, 5, 2, 5, 30, 0, 0, time.UTC)
	const said = "I went for a run: 8.1 km, 45 minutes, 612 kcal, heart rate 156 on average and 170 at most."
	if e := n.Disk.OfKind(memory.KindText); len(e) != 1 || e[0].Text != said || e[0].Speaker != "" || !e[0].At.Equal(start) {
		t.Errorf("%+v", e)
	}
	if e := n.Disk.OfKind(memory.KindSensor); len(e) != 1 || len(e[0].Values) != 51 || e[0].Values[27] != 110 || e[0].Unit != "bpm" || !e[0].At.Equal(start) {
		t.Errorf("%+v", e)
	}
	ids := map[memory.EventID]bool{}
	places := n.Disk.OfKind(memory.KindLocation)
	for i, e := range places {
		ids[e.ID] = true
		if at := start.Add(50 * time.Minute); e.At.Before(start) || e.At.After(at) || e.Place.Lon < 13.39 || e.Place.Lon > 13.41 || i > 0 && e.Place.Lat <= places[i-1].Place.Lat {
			t.Errorf("fix %d: %s %+v", i, e.At, e.Place)
		}
	}
	if len(ids) != len(places) || len(places) > 47 {
		t.Errorf("%d identities of %d places", len(ids), len(places))
	}
	if e := n.Disk.OfKind(memory.KindGap); len(e) != 1 || !strings.Contains(e[0].Reason, `"half.fit": fit: its end is missing`) {
		t.Errorf("%+v", e)
	}
}

// The line leaves out what is not known of an activity.
func TestActivityLine(t *testing.T) {
	for want, a := range map[string]fit.Activity{
		"I was active.":                                 {Sport: "generic"},
		"I went for a swim: 750 m, 14 minutes.":         {Sport: "swimming", Metres: 750, Lasts: 14 * time.Minute},
		"I went for a hike: 5 hours 3 minutes.":         {Sport: "hiking", Lasts: 303 * time.Minute},
		"I did some rock climbing: 90 minutes, 8 kcal.": {Sport: "rock_climbing", Lasts: 90 * time.Minute, Calories: 8},
	} {
		if got := files.Told(&a); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if _, err := files.Activity(read(t, fitData+"run.fit"), time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)); !errors.Is(err, fit.ErrFormat) || errors.Is(err, fit.ErrNone) {
		t.Errorf("a run of next month: %v", err)
	}
}

// A missing heart reading has no value, and later readings keep their own time.
func TestHeartRate(t *testing.T) {
	start := time.Date(2026, 5, 2, 5, 30, 0, 0, time.UTC)
	beats := append(slices.Repeat([]float64{120}, 1030), 0, 0, 110, 111)
	got := files.Heart(&fit.Activity{Start: start, Heart: append([]float64{0}, beats...)})
	want := []struct{ after, n int }{{1, 1024}, {1025, 6}, {1033, 2}}
	if len(got) != len(want) {
		t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i, w := range want {
		s := got[i].(*wire.Sensor)
		if !s.At.Equal(start.Add(time.Duration(w.after)*time.Minute)) || len(s.Values) != w.n || slices.Contains(s.Values, 0) {
			t.Errorf("message %d: %d values of %s, want %d", i, len(s.Values), s.At, w.n)
		}
	}
}

// If one activity of a file can't be used, the node gets the other one, the loss is reported once,
// and the file is done. A file without any usable activity is reported as missing.
func TestUnusableActivity(t *testing.T) {
	t.Parallel()
	dir, n, state := t.TempDir(), carrytest.NewNode(t), carrytest.StatePath(t)
	start := time.Date(2026, 6, 7, 6, 0, 0, 0, time.UTC)
	put(t, dir, "a-part.fit", sessions(t, start, start.AddDate(90, 0, 0)))
	put(t, dir, "b-none.fit", sessions(t, start.AddDate(-20, 0, 0)))
	gaps := func() string {
		all := ""
		for _, e := range carrytest.OfKind(n.Disk.Events, memory.KindGap) {
			all += e.Reason + "\n"
		}
		return all
	}
	const part, none = `"a-part.fit": fit: not all activities: 1 of 2 are left out`, `"b-none.fit": fit: none of its activities can be used`
	folder := &link.Folder{Dir: dir, Every: 10 * time.Millisecond, SettleTime: 30 * time.Millisecond}
	stop := n.Bridge(t, state, files.Family, folder).Start(t)
	n.Disk.Until(t, "both losses", func() bool { return strings.Contains(gaps(), part) && strings.Contains(gaps(), none) })
	if rep := stop(); rep.Records != 1 || rep.Spoilt != 2 {
		t.Errorf("%+v", rep)
	}
	if e := n.Disk.OfKind(memory.KindText); len(e) != 1 || !e[0].At.Equal(start) || e[0].Text != "I went for a run: 10 minutes." {
		t.Errorf("%+v", e)
	}
	b := n.Bridge(t, state, files.Family, folder)
	again := b.NoteWith(`"b-none.fit"`)
	stop = b.Start(t)
	carrytest.Await(t, again)
	if rep := stop(); rep.Records != 0 || rep.Spoilt != 1 {
		t.Errorf("at the second start: %+v", rep)
	}
}

// sessions makes a file of runs of ten minutes each.
func sessions(t *testing.T, starts ...time.Time) []byte {
	t.Helper()
	all := []proto.Message{{Num: mesgnum.FileId, Fields: []proto.Field{
		factory.CreateField(mesgnum.FileId, fieldnum.FileIdType).WithValue(typedef.FileActivity.Byte()),
	}}}
	for _, at := range starts {
		field := func(n byte, v any) proto.Field { return factory.CreateField(mesgnum.Session, n).WithValue(v) }
		began := uint32(at.Unix() - time.Date(1989, 12, 31, 0, 0, 0, 0, time.UTC).Unix())
		all = append(all, proto.Message{Num: mesgnum.Session, Fields: []proto.Field{
			field(fieldnum.SessionStartTime, began), field(fieldnum.SessionSport, typedef.SportRunning.Byte()), field(fieldnum.SessionTotalTimerTime, uint32(600_000)),
		}})
	}
	var b bytes.Buffer
	if err := encoder.New(&b).Encode(&proto.FIT{Messages: all}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
