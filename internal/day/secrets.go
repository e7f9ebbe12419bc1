package day

import "strings"

// creds is a kind of secret that somebody says.
type creds struct {
	name  string
	kind  string
	label []string
	draw  func(*maker) (value, said string, forms []string)
	say   []string
}

var secretWords = []string{
	"Maple", "Heron", "Teapot", "Canyon", "Velvet", "Anchor", "Pebble", "Saffron", "Walrus", "Lantern", "Cobalt", "Thimble",
	"Juniper", "Marble", "Falcon", "Biscuit", "Tundra", "Orchid", "Pumice", "Quartz", "Sparrow", "Trellis", "Umber", "Wicker",
}

// wordPassword makes a password of two words and a number, in one of several forms.
func wordPassword(m *maker) (value, said string, forms []string) {
	w, n := m.several(secretWords, 2), m.digits(2+m.rng.IntN(3))
	switch m.rng.IntN(4) {
	case 0:
		value = w[0] + w[1] + n
	case 1:
		value = w[0] + "-" + w[1] + "-" + n
	case 2:
		value = strings.ToLower(w[0]) + "." + w[1] + "." + n
	default:
		value = strings.ToLower(w[0]+w[1]) + "_" + n
	}
	return value, value, []string{value, w[0] + " " + w[1] + " " + n, w[0] + w[1]}
}

// spokenDigits makes a number that is said digit by digit in English.
func spokenDigits(count int) func(*maker) (string, string, []string) {
	return func(m *maker) (string, string, []string) {
		n := m.digits(count)
		return n, digitWords(n), []string{n, digitWords(n), strings.Join(strings.Split(n, ""), " ")}
	}
}

// writtenDigits makes a number in the form of a good transcript.
func writtenDigits(count int) func(*maker) (string, string, []string) {
	return func(m *maker) (string, string, []string) {
		n := m.digits(count)
		return n, n, []string{n, digitWords(n), strings.Join(strings.Split(n, ""), " ")}
	}
}

// hanSpoken makes a number that is said digit by digit in Chinese.
func hanSpoken(m *maker) (string, string, []string) {
	n := m.digits(6)
	return n, hanDigitWords(n), []string{n, hanDigitWords(n), strings.ReplaceAll(hanDigitWords(n), "零", "〇")}
}

// apiKey makes a key as services issue them, with a made-up prefix.
func apiKey(m *maker) (string, string, []string) {
	const alphabet = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	b := make([]byte, 24)
	for i := range b {
		b[i] = alphabet[m.rng.IntN(len(alphabet))]
	}
	k := m.one([]string{"sk-", "key_", "tok-", "lk_"}) + string(b)
	return k, k, []string{k, string(b)}
}

// officeSecrets: one of these is said at work.
var officeSecrets = []creds{
	{"guest Wi-Fi", "password", []string{"wi-fi", "wifi", "guest", "network"}, wordPassword, []string{
		"The guest Wi-Fi password is {secret}.",
		"Wi-Fi? The password is {secret}, all one word.",
		"It's on the guest network, and the Wi-Fi password's {secret}.",
		"For the Wi-Fi you want the guest one, password {secret}.",
		"They changed the Wi-Fi password to {secret}.",
	}},
	{"staging API key", "key", []string{"api", "staging", "key"}, apiKey, []string{
		"The staging API key is {secret}.",
		"Use this API key for staging: {secret}.",
		"I'm dictating this, the API key for staging is {secret}.",
		"Our API key on staging is now {secret}.",
		"Here's the staging API key, {secret}, don't put it in the chat.",
	}},
	{"login of the build machine", "password", []string{"build", "login", "machine", "admin", "password"}, wordPassword, []string{
		"The password for the build machine is {secret}.",
		"You log in to the build machine as admin with the password {secret}.",
		"The build machine's password is {secret}, same as last year, I know.",
		"Admin password on the build machine? That's {secret}.",
		"Just use {secret} as the password on the build machine.",
	}},
}

// homeSecrets: one of these is said at home in the morning.
var homeSecrets = []creds{
	{"PIN of the joint card", "pin", []string{"pin", "card"}, spokenDigits(4), []string{
		"The PIN for our card is {secret}.",
		"Take our card. The PIN's {secret}.",
		"The card's PIN is {secret}, in case you need it.",
		"If you take the card, its PIN is {secret}.",
		"They sent the new PIN for the joint card, it's {secret}.",
	}},
	{"PIN of the tablet", "pin", []string{"pin", "tablet", "passcode"}, writtenDigits(6), []string{
		"The PIN of the tablet is {secret}.",
		"I changed the tablet's PIN to {secret}.",
		"You can unlock the tablet with the PIN {secret}.",
		"The tablet wants a PIN now, it's {secret}.",
		"New PIN on the tablet: {secret}.",
	}},
	{"password of the photo account", "password", []string{"photo", "account", "password"}, wordPassword, []string{
		"The password for the photo account is {secret}.",
		"My password for the photo account is {secret}, just log in yourself.",
		"I reset the photo account, the password is now {secret}.",
		"Use {secret} as the password for the photo account.",
		"The photo account's password is {secret}.",
	}},
}

// hanSecrets: one of these is said by the friend.
var hanSecrets = []creds{
	{"大门", "code", []string{"门", "gate", "door"}, hanSpoken, []string{
		"我们楼下大门的密码是{secret}。", "大门密码换了,新的是{secret}。", "你记一下,楼下大门密码{secret}。",
		"到了直接上来,大门的密码是{secret}。", "我们小区大门现在的密码是{secret}。",
	}},
	{"Wi-Fi", "password", []string{"wi-fi", "wifi", "无线"}, wordPassword, []string{
		"这里的Wi-Fi密码是{secret}。", "我问了,Wi-Fi密码是{secret}。", "连这个Wi-Fi,密码{secret}。",
		"你连Wi-Fi吧,密码是{secret}。", "他们家Wi-Fi的密码是{secret}。",
	}},
	{"银行卡", "pin", []string{"银行卡", "卡", "card"}, writtenDigits(6), []string{
		"那张银行卡的密码是{secret}。", "银行卡密码我改成{secret}了。", "你用我的银行卡吧,密码是{secret}。",
		"卡给你,银行卡密码是{secret}。", "我妈那张银行卡的密码是{secret}。",
	}},
}

// splitSecret is a code that is said in two turns, with the phrases for its first half.
type splitSecret struct {
	name  string
	label []string
	first []string // contains {first}
}

var splitSecrets = []splitSecret{
	{"alarm", []string{"alarm"}, []string{
		"Okay, the alarm code is {first},", "So the code for the alarm. It starts with {first},", "The alarm code, write this down, is {first}",
		"For the alarm you type {first}, that's half of the code,", "The code of the alarm is {first} and then",
	}},
	{"garage", []string{"garage"}, []string{
		"The garage code is {first},", "For the garage the code is {first},", "You need the code for the garage, that's {first}",
		"Garage code, ready? {first},", "The code on the garage door is {first} and",
	}},
	{"safe", []string{"safe"}, []string{
		"The code for the safe is {first},", "The safe opens with the code {first},", "Safe code. It's {first}",
		"They set the code of the safe to {first},", "The combination of the safe is {first} and then",
	}},
	{"bike lock", []string{"bike", "lock"}, []string{
		"The code for the bike lock is {first},", "The bike lock's combination is {first},", "The bike lock opens with {first}",
		"Bike lock code, don't lose it, {first},", "The code of the bike lock is {first} and after that",
	}},
}

var (
	splitPause  = []string{"Wait, let me put the bag down. Go on.", "Hang on. Okay, go on.", "Mm-hm?", "Slower, please. Yes?", "Okay, and then?"}
	splitSecond = []string{"{second}.", "then {second}.", "and then {second}, and the hash key.", "{second}, and that's it.", "{second}. Got that?"}
)

// tellSecret makes somebody say a secret, and expects that it is kept.
func (m *maker) tellSecret(who string, c creds) {
	value, said, forms := c.draw(m)
	for m.clash(forms) {
		value, said, forms = c.draw(m)
	}
	n := m.say(who, strings.ReplaceAll(m.one(c.say), "{secret}", said))
	m.day.Expect.Secrets = append(m.day.Expect.Secrets, Secret{
		Name: c.name, Kind: c.kind, Label: c.label, Value: value, Forms: forms, Lines: []int{n},
	})
}

// tellSplit makes somebody say a code in two turns, with a turn of the other in between.
func (m *maker) tellSplit(who, other string) {
	s := splitSecrets[m.rng.IntN(len(splitSecrets))]
	n, forms := m.splitForms()
	// If one half equalled the other, their places would be ambiguous.
	for n[:3] == n[3:] || m.clash(forms) {
		n, forms = m.splitForms()
	}
	a, b := digitWords(n[:3]), digitWords(n[3:])
	first := m.say(who, strings.ReplaceAll(m.one(s.first), "{first}", a))
	m.refuse(m.say(other, m.one(splitPause)), "filler")
	second := m.say(who, strings.ReplaceAll(m.one(splitSecond), "{second}", b))
	m.day.Expect.Secrets = append(m.day.Expect.Secrets, Secret{
		Name: s.name, Kind: "code", Label: s.label, Value: n,
		Forms: forms,
		Lines: []int{first, second},
	})
}

// splitForms draws a number of six digits, and returns the forms in which it and its halves may be
// said or written.
func (m *maker) splitForms() (n string, forms []string) {
	n = m.digits(6)
	return n, []string{n, n[:3] + " " + n[3:], strings.Join(strings.Split(n, ""), " "), digitWords(n[:3]), digitWords(n[3:])}
}

// clash reports whether a form is contained in one of an earlier secret, or the other way round:
// "one three five" in "six one three five".
func (m *maker) clash(forms []string) bool {
	for _, s := range m.day.Expect.Secrets {
		for _, old := range s.Forms {
			for _, f := range forms {
				if holds(old, f) || holds(f, old) {
					return true
				}
			}
		}
	}
	return false
}
