package secrets

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/internal/testing/mangle"
	"github.com/locket-dev/locket/internal/testing/perturb"
	"github.com/locket-dev/locket/wasm/abi"
)

// said is one labelled case: turns, the last of which is the event, and the expected vault entries,
// by label and secret, or none.
type said struct {
	turns string // separated by " / "
	want  string // "Label=secret", several separated by "; "
}

var positives = []said{
	{"the wifi password is tulip-42-harbor", "Wi-Fi password=tulip-42-harbor"},
	{"The Wi-Fi password for the office is tulip-42-harbor, all lowercase.", "Wi-Fi password for the office=tulip-42-harbor"},
	{"our guest wifi password is now Sunny!Day9", "Guest Wi-Fi password=Sunny!Day9"},
	{"my PIN is four eight one five", "PIN=4815"},
	{"my pin is 4815.", "PIN=4815"},
	{"The office safe is behind the painting. / My PIN is 4815.", "PIN=4815"},
	{"We have a new alarm. / her PIN is 4815", "PIN=4815"},
	{"The safe has a lock. / the PIN is 4815", "Safe PIN=4815"},
	{"my safe PIN is 4815", "Safe PIN=4815"},
	{"the wifi password is tulip-42-harbor / password: hunter2xy", "Password=hunter2xy"},
	{"the wifi password is [password] / The password is hunter2xy", "Password=hunter2xy"},
	{"the wifi password is tulip-42-harbor / No, sorry, the password is tulip-43-harbor", "Wi-Fi password=tulip-43-harbor"},
	{"the wifi password is tulip-42-harbor / the password has been changed to Kestrel_2031", "Wi-Fi password=Kestrel_2031"},
	{"大门的密码是4815 / 密码是9921", "密码=9921"},
	{"大门的密码是4815 / 不对，密码是9921", "大门密码=9921"},
	{"The wifi is down again. / The password is hunter2xy", "Wi-Fi password=hunter2xy"},
	{"The code is 4815, checkout is at eleven.", "Code=4815"},
	{"use code 4815 at checkout", "Code=4815"},
	{"The alarm code is seven three nine two.", "Alarm code=7392"},
	{"the door code's 5521#", "Door code=5521#"},
	{"The code for the back gate is 9 0 4 4", "Code for the back gate=9044"},
	{"so the gate code, if you need it, is 1908", "Gate code=1908"},
	{"password: hunter2", "Password=hunter2"},
	{"password=correcthorse7", "Password=correcthorse7"},
	{"The password is capital T, u, l, i, p, dash, four two", "Password=Tulip-42"},
	{"the password is swordfish", "Password=swordfish"},
	{"the password is purple monkey dishwasher", "Password=purple monkey dishwasher"},
	{"The password is tulip dash forty-two dash harbor", "Password=tulip-42-harbor"},
	{"the password is \"open sesame\"", "Password=open sesame"},
	{"4821 is the door code", "Door code=4821"},
	{"tulip-42-harbor is our wifi password", "Wi-Fi password=tulip-42-harbor"},
	{"punch in 6174 at the gate", "Code for the gate=6174"},
	{"Use 2580 for the alarm panel", "Code for the alarm=2580"},
	{"the safe combination is 12-34-56", "Safe combination=12-34-56"},
	{"保险箱怎么开 / 先左转三圈到二十五再右转两圈到四十", "Combination of the safe=左转三圈到二十五再右转两圈到四十"},
	{"保险箱先左转三圈到25，再右转两圈到40，最后左转到10", "Combination of the safe=左转三圈到25，再右转两圈到40，最后左转到10"},
	{"I changed the laptop password to Blue$Fox11", "Laptop password=Blue$Fox11"},
	{"the password has been changed to Kestrel_2031", "Password=Kestrel_2031"},
	{"Mia's locker code is double seven oh three", "Mia's locker code=7703"},
	{"The passcode for my phone is 120934", "Passcode for the phone=120934"},
	{"The security code is three five eight", "Security code=358"},
	{"The PIN for the card is eight zero one two, don't write it down", "PIN for the card=8012"},
	{"the key is sk-proj-abcDEF1234567890abcd", "OpenAI API key=sk-proj-abcDEF1234567890abcd"},
	{"export TOKEN ghp_16C7e42F292c6912E7710c838347Ae178B4a", "GitHub token=ghp_16C7e42F292c6912E7710c838347Ae178B4a"},
	{"AKIAIOSFODNN7EXAMPLE", "AWS access key=AKIAIOSFODNN7EXAMPLE"},
	{"use xoxb-2345678901-abcdefghij in the bot", "Slack token=xoxb-2345678901-abcdefghij"},
	{"the api key is 9f86d081884c7d65", "Api key=9f86d081884c7d65"},
	{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", "JSON web token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"},
	{"my card is 4111 1111 1111 1111 expiring in May", "Card ending in 1111=4111111111111111"},
	{"pay with 5500-0000-0000-0004 please", "Card ending in 0004=5500000000000004"},
	{"send it to DE89 3704 0044 0532 0130 00 please", "IBAN of DE=DE89370400440532013000"},
	{"GB29NWBK60161331926819", "IBAN of GB=GB29NWBK60161331926819"},
	{"我的身份证号是11010519491231002X", "Chinese identity number=11010519491231002X"},
	{"my social is 219-09-9999", "Social security number=219-09-9999"},
	{"postgres://locket:s3cretPw@db.example.com/x", "Password for db.example.com=s3cretPw"},
	{"the recovery phrase is abandon ability able about above absent absorb abstract absurd abuse access accident", "Recovery phrase=abandon ability able about above absent absorb abstract absurd abuse access accident"},
	{"门禁密码是 4821", "门禁密码=4821"},
	{"门禁密码是四八二一", "门禁密码=4821"},
	{"办公室的WiFi密码是 tulip-42-harbor。", "办公室的Wi-Fi密码=tulip-42-harbor"},
	{"密码改成了 Blue2031", "密码=Blue2031"},
	{"保险箱密码：零七三九", "保险箱密码=0739"},
	{"我的手机密码是幺二三四五六", "手机密码=123456"},
	{"验证码是 829103，别告诉别人", "验证码=829103"},
	{"5566 是门禁密码", "门禁密码=5566"},
	{"What's the alarm code? / seven three nine two", "Alarm code=7392"},
	{"the alarm code is / seven three nine two", "Alarm code=7392"},
	{"The alarm code is... / uh, 7392", "Alarm code=7392"},
	{"what's the wifi password again? / it's tulip-42-harbor", "Wi-Fi password=tulip-42-harbor"},
	{"What's the password for the wifi? / It's 20482048.", "Password for the Wi-Fi=20482048"},
	{"What's the alarm code? The wifi is down, too. / 4821.", "Alarm code=4821"},
	{"Do you remember the gate code? / Yes. / It's one nine zero eight.", "Gate code=1908"},
	{"what is the password for the printer? / it's marigold", "Password for the printer=marigold"},
	{"7392 / that's the alarm code", "Alarm code=7392"},
	{"门禁密码是多少？ / 四八二一", "门禁密码=4821"},
	{"门禁密码是多少？ / 是 4821", "门禁密码=4821"},
	{"The alarm code has two halves. The first half is 48-15 / and the second half is 16-23", "Alarm code=48-15-16-23"},
	{"For the alarm code, the first half is four eight / and the second half is one five", "Alarm code=4815"},
	{"What's the safe code? / the first two digits are 48 / the last two digits are 15", "Safe code=4815"},
	{"密码的前半是 48 / 后半是 15", "密码=4815"},
	{"the first half of the alarm code is 48-15, and the second half is 16-23", "Alarm code=48-15-16-23"},
	{"The first half of the wifi password is tulip-42 / the second half is harbor-7", "Wi-Fi password=tulip-42-harbor-7"},
	{"My pin number is thirty-nine twelve", "PIN number=3912"},
	{"cvv is 123", "Cvv=123"},
	{"The wifi here kicked me out / Use Lumen Guest, and the password is HarborKite4471. Capital H.", "Wi-Fi password=HarborKite4471"},
	{"The alarm code is four seven one, / hold on / nine zero two, and then the hash key", "Alarm code=471902"},
	{"我们楼下大门的密码换了,新的是六八二零五七,你直接上来", "大门的密码=682057"},
	{"The gate code has changed, it's now 3051", "Gate code=3051"},
	{"The gate code was 4821, now it's 7730.", "Gate code=7730"},
	{"The gate code used to be 4821, but it's 7730 now.", "Gate code=7730"},
	{"Our wifi password used to be heron1, now it's Heron-4471.", "Wi-Fi password=Heron-4471"},
	{"Mein Passwort ist Heron-77", "Mein Passwort=Heron-77"},
	{"我的门禁密码以前是4821，现在是7730。", "门禁密码=7730"},
	{"The combination of the safe is zero seven eight and then / wait / Then nine nine two.", "Combination of the safe=078992"},
	{"So the code for the alarm. It starts with zero three eight, / ok / four five one, and that's it.", "Code for the alarm=038451"},
	{"The bike lock opens with zero zero seven / yes / And then seven seven zero, and the hash key.", "Code for the bike lock=007770"},
	{"Garage code, ready? three two nine, / yes / two one two", "Garage code=329212"},
	{"银行卡密码我改成868577了。", "银行卡密码=868577"},
	{"那个保险柜密码我改了，改成903517了，别忘了。", "保险柜密码=903517"},
	{"门禁密码他们昨天换了，换成2286。", "门禁密码=2286"},
	{"我家wifi密码我刚改过，现在改成 blueotter88 了", "家Wi-Fi密码=blueotter88"},
	{"大门密码物业又改了，改为 51930。", "大门密码=51930"},
	{"The alarm code, I changed it, it's 440912 now.", "Alarm code=440912"},
	{"The garage code, they've just changed it, so now it's 3381.", "Garage code=3381"},
	{"The tablet wants a PIN now, it's 455551.", "Tablet PIN=455551"},
	{"Admin password on the build machine? That's trellislantern_3814.", "Admin password on the build machine=trellislantern_3814"},
	{"They set the code of the safe to four one six, / yes / Then seven five four.", "Code of the safe=416754"},
	{"Bike lock code, don't lose it, zero two four, / yes / one zero eight", "Bike lock code=024108"},
	{"The safe opens with the code eight four one, / yes / Eight four six.", "Code for the safe=841846"},
	{"For the alarm you type nine zero seven, that's half of the code, / yes / Four six nine. Got that?", "Code for the alarm=907469"},
	{"For the garage the code is two two six, / yes / nine nine one.", "Garage code=226991"},
	{"wifi key: 8J2kLm99q", "Wi-Fi key=8J2kLm99q"},
	{"The new garage code is 3 3 8 1, please use it from Monday", "Garage code=3381"},
	{"Hey, note this down: the login password for the router is admin_77x", "Login password for the router=admin_77x"},
}

var negatives = []string{
	"the password is the problem", "I forgot my password", "pin it on the wall", "the code is broken", "I need a new password",
	"the password is wrong", "My password isn't working", "the password is case sensitive", "the password is eight characters long",
	"The PIN is four digits", "the code review is at 3", "the code is on the fridge", "your order number is 48213", "order 4821 has shipped",
	"my phone number is 555 0134 882", "call me on 0171 4455667", "the zip code is 90210", "the area code is 415", "use the promo code SAVE20",
	"the error code is 4041", "the meeting is on 12/05/2026 at 15:30", "it costs 1299 dollars", "the dress code is casual", "I was born in 1984",
	"I wrote 2000 lines of code", "the source code is in the repository", "the key is under the mat", "the key to success is patience",
	"the secret is good butter", "a token of appreciation", "she pinned the note", "the pin is loose", "can you pin the message",
	"the flight code is LH 400", "building 4 room 4821", "we moved the dentist to Thursday", "the score is 3 to 2", "take bus 4821",
	"my password manager is great", "change your password every 90 days", "never share your password with anyone", "what is the password policy",
	"the combination of salt and sugar is wonderful", "the password reset email is late", "1234567890123456 is not a card", "the invoice is 2026-0042",
	"密码忘了", "我忘记密码了", "密码不对", "密码是什么", "密码太长了", "订单号是 48213", "我的电话是 13800138000", "今天是 2026年5月3日", "这个代码有问题",
	"房价是 4821 元", "密码要8位", "the code is due on Friday", "her password is written on a note", "I know the code", "The code works now",
	"what's the alarm code? / I don't know", "what's the alarm code? / ask Mia", "the password? / sorry, no idea", "what's the wifi password? / hang on",
	"what's the gate code? / It's on the note in the kitchen", "the alarm code is / hmm / we have 20 people coming at 6 pm",
	"the first half was boring", "the second half of the film is better", "The first part is easy", "the password is not here", "it's pin day",
	"the last four years were good", "the code compiles", "I like the colour code 3", "the password is always the same", "the pin number of the badge fell off",
	"use 2 cups of flour", "use 1500 grams of flour for the bread", "press 1 for sales", "enter the room at 1530", "the phone is 1200 euros at the shop",
	"the alarm goes off at 6 30", "the train leaves at nine fifteen", "there are four five or six of them", "one two three four", "the gate is number 4821",
	"We sold 4111 tickets", "the code word is unclear", "token ring networks", "what's the password for the printer? / maybe Tom knows",
	"I lost the password. That's annoying", "what's the account password? / Uh-huh.", "密码学很有意思", "请不要告诉别人密码", "门禁坏了", "他的身份证丢了", "the key point is 2030 targets", "our network is down since 9",
}

// run plays turns and returns the outputs' vault entries and the redacted texts.
func run(t *testing.T, turns string, wholeBefore bool) (map[string]string, []string) {
	t.Helper()
	got := map[string]string{}
	parts := strings.Split(turns, " / ")
	var before []abi.Turn
	var state []byte
	for i, text := range parts {
		ev := &abi.Event{ID: "pin/1/" + strconv.Itoa(i+1), Kind: "text", At: int64(1_800_000_000_000 + 5000*i), Text: text,
			Speaker: []string{"Tomas", "Mia"}[i%2], Wearer: "Tomas", Before: before, State: state}
		if wholeBefore {
			ev.State = nil
		}
		var out abi.Output
		if err := New().Extract(ev, &out); err != nil {
			t.Fatal(err)
		}
		state = out.State
		now := parts[i]
		for _, r := range out.Redactions {
			src := text
			if r.Span.Turn < 0 {
				src = before[len(before)+r.Span.Turn].Text
			}
			if r.Span.Start < 0 || r.Span.End > len(src) || r.Span.Start >= r.Span.End || r.Kind == "" {
				t.Fatalf("%q: redaction %+v", turns, r)
			}
			marked := src[:r.Span.Start] + "[" + r.Kind + "]" + src[r.Span.End:]
			if r.Span.Turn < 0 {
				before[len(before)+r.Span.Turn].Text = marked
			} else if len(out.Redactions) == 1 {
				now = marked
			} else {
				now = strings.Replace(now, src[r.Span.Start:r.Span.End], "["+r.Kind+"]", 1)
			}
		}
		if wholeBefore {
			before = append(before, abi.Turn{ID: ev.ID, At: ev.At, Speaker: ev.Speaker, Text: text})
		} else {
			before = append(before, abi.Turn{ID: ev.ID, At: ev.At, Speaker: ev.Speaker, Text: now})
		}
		for _, c := range out.Candidates {
			if c.Type != "vault" || c.Sensitivity != "secret" || c.EntryType == "" || c.Label == "" {
				t.Fatalf("%q: candidate %+v", turns, c)
			}
			got[c.Label] = c.Secret
			for _, s := range []string{c.Text, c.Label, c.Slot.Attribute, c.Slot.Value} {
				if len(c.Secret) > 3 && strings.Contains(s, c.Secret) {
					t.Errorf("%q: %q holds the secret", turns, s)
				}
			}
			for _, s := range c.Spans {
				src := text
				if s.Turn < 0 {
					src = ev.Before[len(ev.Before)+s.Turn].Text
				}
				if strings.Contains(src[s.Start:s.End], c.Secret) {
					t.Errorf("%q: evidence %q holds the secret", turns, src[s.Start:s.End])
				}
			}
		}
	}
	texts := []string{}
	for _, b := range before {
		texts = append(texts, b.Text)
	}
	return got, texts
}

func TestSecrets(t *testing.T) {
	var hit, missed, wrong int
	for _, c := range positives {
		got, texts := run(t, c.turns, false)
		ok := true
		for w := range strings.SplitSeq(c.want, "; ") {
			label, secret, _ := strings.Cut(w, "=")
			if got[label] != secret {
				ok = false
			}
			for _, text := range texts {
				if strings.Contains(text, secret) && len(secret) > 3 {
					t.Errorf("%q: still in the text %q", c.turns, text)
				}
			}
		}
		if ok {
			hit++
		} else {
			missed++
			t.Errorf("%q: got %q, want %q", c.turns, got, c.want)
		}
	}
	for _, n := range negatives {
		if got, _ := run(t, n, false); len(got) > 0 {
			wrong++
			t.Errorf("%q: got %q, want nothing", n, got)
		}
	}
	t.Logf("secrets: %d with, %d without: precision %.3f, recall %.3f", len(positives), len(negatives),
		float64(hit)/float64(hit+wrong), float64(hit)/float64(hit+missed))
}

// Secrets are found in traditional characters, too, and their labels have those.
func TestTraditional(t *testing.T) {
	n := 0
	for _, c := range positives {
		said := perturb.Traditional(c.turns)
		if said == c.turns {
			continue
		}
		n++
		want, redacted := run(t, c.turns, false)
		got, marked := run(t, said, false)
		folded := map[string]string{}
		for label, secret := range got {
			folded[hans.Fold(label)] = hans.Fold(secret)
			if label != "开门密码" && perturb.Traditional(label) != label {
				t.Errorf("%s: label %s", said, label)
			}
		}
		if !maps.Equal(folded, want) || hans.Fold(strings.Join(marked, "/")) != strings.Join(redacted, "/") {
			t.Errorf("%s: %q %q, want %q %q", said, got, marked, want, redacted)
		}
	}
	if n < 20 {
		t.Errorf("only %d lines", n)
	}
	for _, c := range []said{{"Wi-Fi密碼是「龍井綠茶2031」", "Wi-Fi密碼=龍井綠茶2031"}, {"門禁密碼是4471", "門禁密碼=4471"}} {
		label, secret, _ := strings.Cut(c.want, "=")
		if got, _ := run(t, c.turns, false); got[label] != secret {
			t.Errorf("%s: %q", c.turns, got)
		}
	}
}

// Without state, the earlier turns are enough.
func TestWithoutState(t *testing.T) {
	for _, c := range positives {
		label, secret, _ := strings.Cut(c.want, "=")
		if got, _ := run(t, c.turns, true); got[label] != secret {
			t.Errorf("%q: got %q, want %q", c.turns, got, c.want)
		}
	}
}

// A secret that is repeated without its cue is redacted, too.
func TestRepeatIsRedacted(t *testing.T) {
	for _, turns := range []string{
		"the alarm code is 7392 / ok, 7392 it is", "the alarm code is 7392 / so seven three nine two, got it",
		"the wifi password is tulip-42-harbor / did you say tulip-42-harbor ?", "the password is marigold / lovely, Marigold",
	} {
		got, texts := run(t, turns, false)
		if len(got) != 1 || !strings.Contains(texts[1], "[") {
			t.Errorf("%q: %q, %q", turns, got, texts)
		}
	}
}

// Parts wait for ten minutes, then leave the state.
func TestPasswordIn(t *testing.T) {
	for url, want := range map[string]string{
		"mysql://root:@10.0.0.4/app": "", "https://u:p@host/@user": "p", "postgres://ana:p@ss@db/app": "p@ss", "redis://:s3cret@cache": "", "ftp://a:b/c@host/x": "b/c",
		"https://host:80/a@b": "", "://a:b@c": "", "a:b@c": "", "https://example.org/": "", "mailto://x@y:z": "", "x://a:b": "",
	} {
		if from, to := passwordIn(url); url[from:to] != want {
			t.Errorf("%s: %q, want %q", url, url[from:to], want)
		}
	}
}

func TestSecretPartsExpire(t *testing.T) {
	var out abi.Output
	ev := &abi.Event{ID: "a", At: 1, Text: "the first half of the alarm code is 48-15"}
	if err := New().Extract(ev, &out); err != nil || !strings.Contains(string(out.State), "48-15") {
		t.Fatalf("state %q, %v", out.State, err)
	}
	later := &abi.Event{ID: "b", At: 2 + maxWait, Text: "lunch?", State: out.State}
	out = abi.Output{}
	if err := New().Extract(later, &out); err != nil || strings.Contains(string(out.State), "48-15") {
		t.Fatalf("state %q, %v", out.State, err)
	}
}

// checked extracts from a text, validates the output, and returns the state.
func checked(t *testing.T, text, before string, state []byte) []byte {
	t.Helper()
	ev := &abi.Event{ID: "x", At: 5, Text: text, State: state, Before: []abi.Turn{{ID: "w", At: 1, Text: before}}}
	var out abi.Output
	if err := New().Extract(ev, &out); err != nil {
		t.Fatal(err)
	}
	check := func(s abi.Span) {
		src := text
		if s.Turn == -1 {
			src = before
		} else if s.Turn != 0 {
			t.Fatalf("span %+v", s)
		}
		if s.Start < 0 || s.End > len(src) || s.Start >= s.End {
			t.Fatalf("span %+v of %q", s, src)
		}
	}
	for _, r := range out.Redactions {
		check(r.Span)
	}
	for _, c := range out.Candidates {
		for _, s := range c.Spans {
			check(s)
		}
		if c.Secret == "" || c.Label == "" {
			t.Fatalf("%+v", c)
		}
	}
	return out.State
}

// Corrupt input is read without a panic.
func TestMangled(t *testing.T) {
	lines := mangle.Lines(t, "testdata/ordinary.txt", "testdata/unusual.txt")
	for _, p := range positives {
		lines = append(lines, p.turns)
	}
	var state []byte
	mangle.Each(t, 20000, lines, func(r *rand.Rand, line string) {
		state = checked(t, line, mangle.Line(r, lines), state)
	})
}

func FuzzExtract(f *testing.F) {
	for i, p := range positives {
		f.Add(p.turns, negatives[i%len(negatives)], []byte{})
	}
	f.Add("that's the alarm code", "7392", (&recalled{known: []uint64{fold("4815")}, pending: []piece{{1, "Alarm code", "pin", "48", "", ""}}}).encode())
	f.Fuzz(func(t *testing.T, text, before string, state []byte) {
		text, before = strings.ToValidUTF8(text, ""), strings.ToValidUTF8(before, "") // as from [abi.DecodeEvent]
		checked(t, text, before, state)
	})
}

func BenchmarkExtract(b *testing.B) {
	text := strings.Repeat("We went to the market and bought apples, then we talked about the garden. ", 3)
	b.ReportAllocs()
	for b.Loop() {
		var out abi.Output
		if err := New().Extract(&abi.Event{Text: text}, &out); err != nil {
			b.Fatal(err)
		}
	}
}

// If a secret's old and new value are named, both are redacted.
func TestOldAndNewSecretAreRedacted(t *testing.T) {
	for text, secrets := range map[string][2]string{
		"Our wifi password used to be heron1, now it's Heron-4471.": {"heron1", "Heron-4471"},
		"My PIN was 4821, but it's 7730 now.":                       {"4821", "7730"},
		"我的门禁密码以前是4821，现在是7730。":                                    {"4821", "7730"},
	} {
		var out abi.Output
		if err := New().Extract(&abi.Event{ID: "e", At: 1, Text: text}, &out); err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			at := strings.Index(text, secret)
			if !slices.ContainsFunc(out.Redactions, func(r abi.Redaction) bool { return r.Span.Start <= at && at+len(secret) <= r.Span.End }) {
				t.Errorf("%s: %q stays: %v", text, secret, out.Redactions)
			}
		}
	}
}
