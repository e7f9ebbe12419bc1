package rules

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// dayIn returns the day of a time in ms as the texts write it; "-" is none.
func dayIn(ms int64) string {
	if ms == 0 {
		return "-"
	}
	m := timex.MomentOf(ms, monday.Offset)
	w := timex.When{Day: m.Day, Minute: m.Minute}
	return plain(&w)
}

// holds returns when a memory begins: its Started, or the time from which it is true.
func holds(c *abi.Candidate) string {
	if c.Started != 0 {
		return dayIn(c.Started)
	}
	return dayIn(c.TrueFrom)
}

// The date of a memory is the one in its words, and not one that they deny or one from before.
// Today is Monday, 14 September 2026.
func TestDatesAgree(t *testing.T) {
	for _, c := range []struct{ said, says, want string }{
		// Something in the future is not true yet, so it has no day from which it is true.
		{"Julia is pregnant and due in March.", "March 2027", "-"},
		{"My wife is pregnant, due in April.", "April 2027", "-"},
		{"My anniversary is October 5th.", "5 October 2026", "-"},
		{"Our wedding anniversary is on June 3rd.", "3 June 2027", "-"},
		{"I bought a camera for the wedding that is on Saturday.", "19 September 2026", "-"},
		{"I live in Graz until March.", "March 2027", "-"},
		// What was true, and since when something is true.
		{"I moved to Graz in March.", "March 2026", "2026-03-01"},
		{"Anna has moved to Graz in November.", "November 2025", "2025-11-01"},
		{"I have worked at Acme since March.", "March 2026", "2026-03-01"},
		{"I bought a camera on Saturday.", "12 September 2026", "2026-09-12"},
		{"Anna is married since November.", "November 2025", "2025-11-01"},
		// If something was moved, the new time counts.
		{"The yoga class moved from Tuesday to Wednesday at 7 pm.", "16 September 2026, 19:00", "2026-09-16"},
		{"The yoga class has been moved from Tuesday to Wednesday at 7 pm.", "16 September 2026, 19:00", "2026-09-16"},
		{"They moved my cooking class from Tuesday to Friday.", "18 September 2026", "2026-09-18"},
		{"Our choir practice moved from Tuesday to Friday at six.", "to Friday at six (Friday 18 September 2026, 18:00)", "2026-09-18"},
		{"The book club shifted from Thursday to Friday.", "from Thursday (Thursday 17 September 2026) to Friday (Friday 18 September 2026)", "2026-09-18"},
		{"The choir practice has been moved from Tuesday to Friday.", "to Friday (Friday 18 September 2026)", "2026-09-18"},
		{"I have yoga on Tuesday at six. / The yoga class moved from Tuesday to Wednesday at 7 pm.", "Mei has yoga, now on Wednesday 16 September 2026, 19:00", "2026-09-16"},
		{"We moved the sofa to the bedroom on Friday.", "11 September 2026", "2026-09-11"},
		// What somebody had, and what somebody got.
		{"We had a great class on Friday.", "11 September 2026", "2026-09-11"},
		{"I had a dentist appointment on Friday.", "11 September 2026", "2026-09-11"},
		{"I got an appointment on Friday.", "18 September 2026", "2026-09-18"},
		// Chinese: a denied day is not used.
		{"我的生日不是六月，是七月十二号。", "生日是七月十二号", "-"},
		{"演出不是周四而是周五晚上七点。", "2026年9月18日星期五 19:00", "2026-09-18"},
		{"我的面试不是周四下午三点，是周五上午十点。", "2026年9月18日星期五 10:00", "2026-09-18"},
		{"我的航班不在周五。", "2026年9月18日", "-"},
	} {
		out := hear(t, c.said)
		if len(out.Candidates) != 1 {
			t.Errorf("%s: %q", c.said, keys(out))
			continue
		}
		if a := &out.Candidates[0]; !strings.Contains(a.Text, c.says) || holds(a) != c.want {
			t.Errorf("%s: %s: %q, want %s: %q", c.said, holds(a), a.Text, c.want, c.says)
		}
	}
}

// A birthday is the day that is stated, and not the one that is denied.
func TestDeniedDaysZh(t *testing.T) {
	for _, c := range []struct{ said, want string }{
		{"我的生日不是六月，是七月十二号。", "birthday=7月12日"},
		{"我的生日不是六月三号，是七月十二号。", "birthday=7月12日"},
		{"我的生日不是六月三号而是七月十二号。", "birthday=7月12日"},
		{"我妈妈的生日不是六月三号，是七月十二号。", "user的妈妈.birthday=7月12日"},
		{"李娜的生日不是2027-06-03，而是2027-07-12。", "李娜.birthday=7月12日"},
		{"我们的结婚纪念日不是六月三号，是七月十二号。", "wedding_anniversary=7月12日"},
		{"我的生日是七月十二号，不是六月三号。", "birthday=7月12日"},
		{"我的生日不是六月三号。", "!birthday=6月3日"},
		{"我的生日是不是六月三号？", ""},
		{"会议不是周二。", ""},
		{"我周五有面试。 / 我的生日不是六月，是七月十二号。", "birthday=7月12日"},
		{"我周五有面试。 / 我女儿的演出不是周四，是周二。", "plan@2026-09-15"},
		{"我周五有面试。 / 我的面试不是周五，是周六。", "interview@2026-09-19"},
	} {
		if got := strings.Join(keys(hear(t, c.said)), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.said, got, c.want)
		}
	}
}

// A class is an appointment of its own kind: "my yoga class" is not the cooking class.
func TestClasses(t *testing.T) {
	for _, c := range []struct{ said, want string }{
		{"My yoga class is on Tuesday at six.", "yoga_class@2026-09-15 18:00"},
		{"My yoga class is on Tuesday at six. / My cooking class is on Friday.", "cooking_class@2026-09-18"},
		{"I have a class on Friday.", "class@2026-09-18"},
		{"I have two classes on Friday.", "plan@2026-09-18"},
	} {
		if got := strings.Join(keys(hear(t, c.said)), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.said, got, c.want)
		}
	}
}
