package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// fieldsOf writes the fields of a candidate that its text does not show.
func fieldsOf(c *abi.Candidate) string {
	at := func(ms int64) string {
		m := timex.MomentOf(ms, monday.Offset)
		y, mo, d := timex.Date(m.Day)
		return fmt.Sprintf("%d-%s-%s %s:%s", y, timex.Pad2(mo), timex.Pad2(d), timex.Pad2(m.Minute/60), timex.Pad2(m.Minute%60))
	}
	var out []string
	add := func(name, value string) {
		if value != "" {
			out = append(out, name+"="+value)
		}
	}
	add("actor", c.Actor)
	add("place", c.Place)
	if c.Started != 0 {
		add("started", at(c.Started))
	}
	if c.Ended != 0 {
		add("ended", at(c.Ended))
	}
	add("entry_type", c.EntryType)
	add("details", c.Details)
	return strings.Join(out, "; ")
}

// TestFields checks the fields of the six types that the text does not show. Today is Monday, 14
// September 2026.
func TestFields(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		// Ends: of two days, of two years, of hours, of how long it took.
		{"I was ill from Monday to Wednesday.", "actor=Mei; started=2026-09-07 00:00; ended=2026-09-09 23:59"},
		{"I was in Lisbon from Friday until Sunday.", "actor=Mei; place=Lisbon; started=2026-09-11 00:00; ended=2026-09-13 23:59"},
		{"We were in Rome between 3 and 10 May.", "actor=Mei; place=Rome; started=2026-05-03 00:00; ended=2026-05-10 23:59"},
		{"I worked at Siemens from 2015 to 2019.", "actor=Mei; place=Siemens; started=2015-01-01 00:00; ended=2019-12-31 23:59"},
		{"The conference is from Monday to Wednesday.", "actor=Mei; started=2026-09-21 00:00; ended=2026-09-23 23:59; details=conference"},
		{"I had lunch with Ben yesterday from noon till half past one.", "actor=Mei; started=2026-09-13 12:00; ended=2026-09-13 13:30"},
		{"I was in Vienna for three days last week.", "actor=Mei; place=Vienna; started=2026-09-07 00:00"},
		{"我上周一到周三在杭州出差。", "actor=Mei; started=2026-09-07 00:00; ended=2026-09-09 23:59"},
		{"我周五到周日在苏州。", "actor=Mei; started=2026-09-18 00:00; ended=2026-09-20 23:59"},
		{"我昨天三点开了两个小时的会。", "actor=Mei; started=2026-09-13 15:00; ended=2026-09-13 17:00"},
		{"我请了两天假，周四周五不上班", "actor=Mei; started=2026-09-17 00:00; ended=2026-09-18 23:59"},
		// Parts of months have a beginning and an end.
		{"I'm moving to Oslo at the end of the month.", "actor=Mei; started=2026-09-24 00:00; ended=2026-09-30 23:59; details=plan"},
		{"I was in Rome at the end of May.", "actor=Mei; place=Rome; started=2026-05-25 00:00; ended=2026-05-31 23:59"},
		{"我月底搬家。", "actor=Mei; started=2026-09-24 00:00; ended=2026-09-30 23:59"},
		// Who did it, and where.
		{"My mother visited us on Sunday.", "actor=Mei's mother; started=2026-09-13 00:00"},
		{"Tom: I met Anna at the station yesterday.", "actor=Tom; place=station; started=2026-09-13 00:00"},
		{"I flew from Paris to Rome.", "actor=Mei; place=Rome; started=2026-09-14 10:00"},
		{"I went to the gym yesterday for two hours.", "actor=Mei; place=gym; started=2026-09-13 00:00"},
		{"昨天王伟去了上海。", "actor=王伟; started=2026-09-13 00:00"},
		{"我妈妈昨天来看我了。", "actor=Mei的妈妈; started=2026-09-13 00:00"},
		{"昨天小李请我吃饭了。", "actor=小李; started=2026-09-13 00:00"},
		{"我老公周五下午三点要去看牙。", "actor=Mei的老公; started=2026-09-18 15:00; details=看牙"},
		{"周五我老婆和我去看演唱会。", "actor=Mei; started=2026-09-18 00:00; details=演唱会"},
		// What kind of procedure, and what for.
		{"When the alarm goes off, first close the gas, then open the windows, then call Tom.", "entry_type=workflow; details=When the alarm goes off"},
		{"Every Monday I first back up the laptop, then I clean the desk, then I write the report.", "entry_type=workflow; details=Every Monday"},
		{"To make tea: boil water, pour it over the leaves, wait three minutes.", "entry_type=guide; details=How to make tea"},
		{"How do I reset the router? Unplug it, wait ten seconds, plug it in again.", "entry_type=guide; details=How to reset the router"},
		{"Recipe for pancakes: mix flour and milk, add two eggs, fry them in butter.", "entry_type=guide; details=Recipe for pancakes"},
		{"报警器响的时候，先关煤气，再开窗，然后给王伟打电话。", "entry_type=workflow; details=报警器响的时候"},
		{"每天早上我先喂猫，再浇花，然后锁门。", "entry_type=workflow; details=每天早上"},
		{"红烧肉的做法：先焯水，再炒糖色，然后炖一个小时。", "entry_type=guide; details=红烧肉的做法"},
	} {
		out := hear(t, c.line)
		if len(out.Candidates) != 1 {
			t.Errorf("%s: %d memories, want 1", c.line, len(out.Candidates))
			continue
		}
		if got := fieldsOf(&out.Candidates[0]); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}

// TestLists: each value of a list has its own statement.
func TestLists(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"I like apples, pears and the sea.", "Mei likes apples. | Mei likes pears. | Mei likes the sea."},
		{"I'm allergic to nuts and bees.", "Mei is allergic to nuts. | Mei is allergic to bees."},
		{"I speak German, French and Dutch.", "Mei speaks German. | Mei speaks French. | Mei speaks Dutch."},
		{"I have a dog called Rex and a cat called Minka", "Mei has a dog called Rex. | Mei has a cat called Minka."},
		{"I like salt and vinegar crisps.", "Mei likes salt and vinegar crisps."},
		{"Ann likes red and white wine.", "Ann likes red and white wine."},
		{"I like bread and butter pudding.", "Mei likes bread and butter pudding."},
		{"I love fish and chips.", "Mei loves fish and chips."},
		{"I like apples and ice cream.", "Mei likes apples. | Mei likes ice cream."},
		{"I'm allergic to milk and tree nuts.", "Mei is allergic to milk. | Mei is allergic to tree nuts."},
		{"我喜欢苹果和梨。", "Mei喜欢苹果。 | Mei喜欢梨。"},
		{"我对花生、海鲜和牛奶过敏。", "Mei对花生过敏。 | Mei对海鲜过敏。 | Mei对牛奶过敏。"},
		{"我会说德语和法语。", "Mei会说德语。 | Mei会说法语。"},
	} {
		var got []string
		out := hear(t, c.line)
		for i := range out.Candidates {
			got = append(got, out.Candidates[i].Text)
			if len(out.Candidates) > 1 && out.Candidates[i].Details == "" {
				t.Errorf("%s: no details", c.line)
			}
		}
		if s := strings.Join(got, " | "); s != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.line, s, c.want)
		}
	}
}

// A list that is kept whole has the whole list as its value.
func TestListsKeptWhole(t *testing.T) {
	for said, want := range map[string]string{"Ann likes red and white wine.": "red and white wine", "I love fish and chips.": "fish and chips"} {
		if out := hear(t, said); len(out.Candidates) != 1 || out.Candidates[0].Slot.Value != want || out.Candidates[0].Object != want {
			t.Errorf("%q: %+v, want one memory of %q", said, out.Candidates, want)
		}
	}
}

// A cancellation ends the plan with the day and the person that it names, and no other.
func TestCancelledIsTheOneThatIsNamed(t *testing.T) {
	const plan = "I am meeting Tom or Lena on Tuesday. / "
	for _, c := range []struct {
		said string
		ends bool
	}{
		{"The meeting on Monday was cancelled.", false},
		{"They cancelled the meeting on Monday.", false},
		{"The meeting with Ann was cancelled.", false},
		{"They cancelled the meeting with Ann.", false},
		{"The meeting on Tuesday was cancelled.", true},
		{"They cancelled the meeting on Tuesday.", true},
		{"The meeting was cancelled.", true},
		{"The meeting was cancelled yesterday.", true},
	} {
		out := hear(t, plan+c.said)
		ends := slices.ContainsFunc(out.Candidates, func(a abi.Candidate) bool {
			return a.Negates && a.Slot.Attribute == "plan: meeting tom or lena"
		})
		if ends != c.ends || ends == strings.Contains(string(out.State), "tom or lena") {
			t.Errorf("%q: ends the meeting: %v, want %v: %+v", c.said, ends, c.ends, out.Candidates)
		}
	}
	for _, a := range hear(t, "I have a meeting on Tuesday. / The meeting on Monday was cancelled.").Candidates {
		if a.Slot.Attribute == "meeting" {
			t.Errorf("the meeting on Monday ends that on Tuesday: %+v", a)
		}
	}
}

// TestReached: ways to reach somebody, letter by letter.
func TestReached(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"My number is +1 (415) 555-0132.", "user.phone=+1 (415) 555-0132"},
		{"My phone number's +49 170 1234567.", "user.phone=+49 170 1234567"},
		{"You can reach me at +49 170 1234567.", "user.phone=+49 170 1234567"},
		{"Tom's number: +49 170 1234567", "tom.phone=+49 170 1234567"},
		{"The plumber's number is 0170 555 0123.", "plumber.phone=0170 555 0123"},
		{"My new number is +49 170 1234567", "user.phone=+49 170 1234567"},
		{"李娜的电话是+86 138 0013 8000", "李娜.phone=+86 138 0013 8000"},
		{"我的新号码是+8613800138000", "user.phone=+8613800138000"},
		{"我的邮箱是mei@example.com", "user.email=mei@example.com"},
		{"我的地址是北京市朝阳区建国路88号", "user.address=北京市朝阳区建国路88号"},
		{"The party is on 31 November at 25:00.", ""},
		{"The meeting is on Friday the 32nd.", ""},
		{"Is your number still +49 170 1234567?", ""},
	} {
		out, got := hear(t, c.line), ""
		for i := range out.Candidates {
			if s := out.Candidates[i].Slot; s != nil {
				got += s.Subject + "." + s.Attribute + "=" + s.Value
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
}

// Somebody who is no longer allergic has no allergy to "milk not"; somebody who never was has a
// memory that says so.
func TestDeniedAllergies(t *testing.T) {
	out := hear(t, "我对花生不过敏。")
	if len(out.Candidates) != 1 || out.Candidates[0].Negates || out.Candidates[0].Slot.Attribute != "not_allergies" || out.Candidates[0].Slot.Value != "花生" {
		t.Errorf("%+v", out.Candidates)
	}
	for line, value := range map[string]string{"我对牛奶不过敏了。": "牛奶", "我对海鲜已经不过敏了。": "海鲜", "我对猫毛不再过敏。": "猫毛"} {
		out := hear(t, line)
		if len(out.Candidates) != 1 || !out.Candidates[0].Negates || out.Candidates[0].Slot == nil || out.Candidates[0].Slot.Value != value {
			t.Errorf("%s: %+v", line, out.Candidates)
		}
	}
}
