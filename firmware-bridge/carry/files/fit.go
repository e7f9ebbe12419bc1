package files

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/frame/fit"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// readings is the maximum number of readings in a sensor's message (docs/mqtt.md).
const readings = 1024

// activity makes a line of each activity in a FIT file, with the time at which it began, the heart
// rate by the minute, and places on the way. With [fit.ErrPart], it returns the activities that can
// be used.
func activity(b []byte, now time.Time) (out []wire.Message, err error) {
	f, err := fit.Parse(b, func(t time.Time) bool { return wire.Believed(t, now) })
	if f == nil {
		return nil, err
	}
	for _, a := range f.Activities {
		out = append(out, &wire.Words{Header: wire.Header{At: a.Start}, Text: describe(&a)})
		out = append(out, heart(&a)...)
	}
	for _, p := range f.Track {
		out = append(out, &wire.Location{Header: wire.Header{At: p.At}, Place: memory.Place{Lat: p.Lat, Lon: p.Lon}})
	}
	return out, err
}

// heart makes messages of the heart rate by the minute. Since the values of a message are a minute
// apart, a missing reading ends it.
func heart(a *fit.Activity) (out []wire.Message) {
	for i := 0; i < len(a.Heart); {
		if a.Heart[i] == 0 {
			i++
			continue
		}
		end := i + 1
		for end < len(a.Heart) && end < i+readings && a.Heart[end] != 0 {
			end++
		}
		out = append(out, &wire.Sensor{Header: wire.Header{At: a.Start.Add(time.Duration(i) * time.Minute)}, Name: "heart_rate",
			Values: a.Heart[i:end], Unit: "bpm"})
		i = end
	}
	return out
}

// outings are the everyday names of some of FIT's sports.
var outings = map[string]string{
	"running": "a run", "cycling": "a bike ride", "e_biking": "a bike ride", "walking": "a walk", "hiking": "a hike",
	"swimming": "a swim", "rowing": "a row", "sailing": "a sail", "driving": "a drive",
}

// describe describes an activity in the wearer's words, with what is known of it. It avoids "in 45
// minutes", which would be read as a time.
func describe(a *fit.Activity) string {
	what := "I was active"
	if o := outings[a.Sport]; o != "" {
		what = "I went for " + o
	} else if a.Sport != "generic" && a.Sport != "all" {
		what = "I did some " + strings.ReplaceAll(a.Sport, "_", " ")
	}
	var more []string
	if a.Metres >= 1 {
		far := fmt.Sprintf("%.1f km", a.Metres/1000)
		if a.Metres < 1000 {
			far = fmt.Sprintf("%.0f m", a.Metres)
		}
		more = append(more, far)
	}
	if m := int(math.Round(a.Lasts.Minutes())); m > 0 {
		long := fmt.Sprintf("%d minutes", m)
		if m >= 120 {
			long = fmt.Sprintf("%d hours %d minutes", m/60, m%60)
		}
		more = append(more, long)
	}
	if a.Calories > 0 {
		more = append(more, fmt.Sprintf("%d kcal", a.Calories))
	}
	switch {
	case a.Average > 0 && a.Most > 0:
		more = append(more, fmt.Sprintf("heart rate %d on average and %d at most", a.Average, a.Most))
	case a.Average > 0:
		more = append(more, fmt.Sprintf("heart rate %d on average", a.Average))
	}
	if len(more) == 0 {
		return what + "."
	}
	return what + ": " + strings.Join(more, ", ") + "."
}
