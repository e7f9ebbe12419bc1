package query

import "testing"

func TestAskedProperty(t *testing.T) {
	for question, want := range map[string]string{
		"when is my birthday": "self", "What's my job?": "self", "what do I do for a living": "self", "what do I do": "self", "where do I live": "self", "when was I born": "self",
		"what is my wife's name": "partner", "who is my doctor": "partner", "what is my wife called": "partner", "我老婆叫什么名字": "partner", "我的医生是谁": "partner",
		"我的生日是什么时候": "self", "我生日是哪天": "self", "我做什么工作": "self", "我的电话号码是多少": "self", "我住在哪里": "self", "我在哪里上班": "self",
		"when is Anna's birthday": "Anna", "what's Tom’s birthday?": "Tom", "who is Anna's doctor": "Anna", "what is Tom's wife's name": "Tom", "when is my sister's birthday": "sister",
		"where does Tom live": "Tom", "where does Dr. Chen live": "Chen", "how old is Mrs Weber": "Weber", "what's my dog's name": "partner", "what is our cat called": "partner", "Tom的生日是哪天": "Tom", "Anna 住在哪里": "Anna", "我的狗叫什么": "partner", "我家猫叫什么": "partner", "what does Tom do": "Tom", "how old is my sister": "sister", "where does my wife work": "wife",
		"我老婆叫什么": "partner", "who is our landlord": "partner", "what's the name of my dentist": "partner", "我的房东是谁": "partner", "我牙医姓什么": "partner",
		"小王的生日是什么时候": "小王", "小李的医生是谁": "小李", "小李老婆叫什么": "小李", "我妈妈的生日是哪天": "妈妈", "我老婆在哪里上班": "老婆", "小王住在哪里": "小王",
		"what do I have to do": "", "where did I put my keys": "thing", "when is my dentist appointment": "thing", "what does the doctor say": "", "我明天做什么": "", "今天要做什么": "", "我要买什么": "",
	} {
		p, ok := askedProperty(question)
		got := p.owner
		switch {
		case p.partner && got == "":
			got = "partner"
		case p.only:
			got = "thing"
		case ok && got == "":
			got = "self"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

func TestPersonIsNotNamed(t *testing.T) {
	for _, c := range []struct {
		owner, text     string
		byOwner, misses bool
	}{
		{"Anna", "Anna went to the doctor because of her knee.", false, true},
		{"Anna", "Hanna's doctor is Dr. Weiss.", false, true},
		{"Anna", "My doctor is Dr. Albers.", false, true},
		{"Anna", "My doctor is Dr. Albers.", true, false},
		{"Anna", "Anna's doctor is Dr. Weiss.", false, false},
		{"Anna", "Dr. Weiss is Anna's doctor.", false, false},
		{"Anna", "Anna has a new flat.", false, false},
		{"Tom", "Tom's sister plays the cello.", false, true},
		{"小王", "小王昨天去看医生了。", false, true},
		{"小王", "小李的医生是王医生。", false, true},
		{"小王", "我的医生是陈医生。", false, true},
		{"小王", "小王的医生是陈医生。", false, false},
		{"小王", "小王的医生姓陈。", false, false},
		{"小王", "小王的姐姐是护士。", false, true},
	} {
		if got := (property{owner: c.owner, partner: true}).misses(c.text, c.byOwner); got != c.misses {
			t.Errorf("%s: %q misses: %v", c.owner, c.text, got)
		}
	}
}

func TestOwnerOfAProperty(t *testing.T) {
	for _, c := range []struct {
		text    string
		partner bool
		want    whose
	}{
		{"My birthday is on June 11th.", false, speakers},
		{"Hanna's birthday is on March 3rd.", false, anothers},
		{asSpoken("Maja's mother's birthday is on May 6th", "Maja"), false, anothers},
		{asSpoken("Maja's birthday is on June 11th", "Maja"), false, speakers},
		{"Don't forget to buy a birthday card for Hanna.", false, anothers},
		{"My wife works at the town hall.", false, anothers},
		{"Anna is a teacher.", false, anothers},
		{"I work as a physiotherapist", false, speakers},
		{"Dentist on Friday at 10:30", false, nobodys},
		{"我妈妈的生日是5月6日", false, anothers},
		{"我的生日是6月11日", false, speakers},
		{asSpoken("Maja的老婆在医院上班", "Maja"), false, anothers},
		{"我在医院上班", false, speakers},
		{"小王搬到杭州了。", false, anothers},
		{asSpoken("Karin is Maja's wife.", "Maja"), true, speakers},
		{"Petra is Tom's wife.", true, anothers},
		{"Tom's wife is called Petra.", true, anothers},
		{"My wife is called Karin.", true, speakers},
		{"My wife works at the town hall.", true, anothers},
		{"我老婆叫卡琳", true, speakers},
		{"房东是郑先生", true, speakers},
		{"The landlord is Mr. Duarte.", true, speakers},
		{"我姐姐是护士", true, anothers},
		{"我老婆在医院上班", true, anothers},
		{"小李的医生是陈医生", true, anothers},
	} {
		if got := (property{partner: c.partner}).owns(c.text); got != c.want {
			t.Errorf("%q: %d, want %d", c.text, got, c.want)
		}
	}
}
