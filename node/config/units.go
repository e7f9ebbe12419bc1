package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes, written "64MB" or "2GiB". KB, MB, GB and TB are powers
// of 1000; KiB, MiB, GiB and TiB powers of 1024; a number without a unit is in
// bytes.
type Size int64

var sizeUnits = []struct {
	name string
	n    int64
}{
	{"TIB", 1 << 40}, {"GIB", 1 << 30}, {"MIB", 1 << 20}, {"KIB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1},
}

// parseSize parses what [Size.String] writes. It also accepts any case, a fraction,
// and a space before the unit. Negative sizes are refused.
func parseSize(s string) (Size, error) {
	t, unit := strings.ToUpper(strings.TrimSpace(s)), int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(t, u.name); ok {
			t, unit = strings.TrimSpace(rest), u.n
			break
		}
	}
	v, err := parsePlain(t)
	if err != nil || v*float64(unit) >= math.MaxInt64 {
		return 0, fmt.Errorf("size %q: want a number with a unit, such as 64MB or 2GiB", s)
	}
	return Size(math.Round(v * float64(unit))), nil
}

// String uses the unit that divides the size without a remainder and gives the
// smallest number.
func (s Size) String() string {
	n, unit := int64(s), "B"
	for _, u := range sizeUnits {
		if q := int64(s) / u.n; int64(s)%u.n == 0 && q < n {
			n, unit = q, u.name
		}
	}
	if binary, ok := strings.CutSuffix(unit, "IB"); ok {
		unit = binary + "iB"
	}
	return strconv.FormatInt(n, 10) + unit
}

// MarshalText implements encoding.TextMarshaler.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Size) UnmarshalText(b []byte) error {
	v, err := parseSize(string(b))
	if err == nil {
		*s = v
	}
	return err
}

// Duration is a span of time, written in Go's form ("1h30m") or in days and weeks of
// 24 hours ("30d", "2w", "1d12h").
type Duration time.Duration

// Day is 24 hours: retention and pauses do not follow a zone's clock changes.
const Day = 24 * time.Hour

// ParseDuration parses what [Duration.String] writes. Negative durations are
// refused.
func ParseDuration(s string) (Duration, error) {
	t, total := strings.TrimSpace(s), time.Duration(0)
	bad := fmt.Errorf("duration %q: want a number with a unit, such as 10m, 12h, 30d or 2w", s)
	if t == "" {
		return 0, bad
	}
	for _, u := range []struct {
		sign string
		n    time.Duration
	}{{"w", 7 * Day}, {"d", Day}} {
		num, rest, ok := strings.Cut(t, u.sign)
		if !ok {
			continue
		}
		v, err := parsePlain(num)
		if err != nil || v*float64(u.n)+float64(total) >= math.MaxInt64 {
			return 0, bad
		}
		total, t = total+time.Duration(v*float64(u.n)), rest
	}
	if t != "" {
		v, err := time.ParseDuration(t)
		if err != nil || v < 0 || v > math.MaxInt64-total {
			return 0, bad
		}
		total += v
	}
	return Duration(total), nil
}

// Std returns the same duration as a time.Duration.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String uses days if they come out whole, and otherwise Go's form without zero
// parts.
func (d Duration) String() string {
	t := time.Duration(d)
	if t != 0 && t%Day == 0 {
		return strconv.FormatInt(int64(t/Day), 10) + "d"
	}
	s := t.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := ParseDuration(string(b))
	if err == nil {
		*d = v
	}
	return err
}

// parsePlain parses digits with at most one decimal point: no sign, exponent, hex or
// infinity.
func parsePlain(s string) (float64, error) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(s, 64)
}
