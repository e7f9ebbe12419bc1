package perturb

import "strings"

// Chinese returns ways that change only Chinese questions: slips of people who type by sound, and
// traditional characters. The table of these has the characters of the questions in
// memory/recall/testdata.
func Chinese() []Way { return chinese }

var chinese = []Way{
	{"得 for 的", strings.NewReplacer("的", "得").Replace},
	{"在 and 再 mixed up", strings.NewReplacer("在", "再", "再", "在").Replace},
	{"做 and 作 mixed up", strings.NewReplacer("做", "作", "作", "做").Replace},
	{"哪 as 那", strings.NewReplacer("哪", "那").Replace},
	{"without 了", strings.NewReplacer("了", "").Replace},
	{"traditional characters", strings.NewReplacer(pairs(
		"为為岁歲帮幫么麼项項评評赵趙师師结結刘劉专專现現应應带帶报報钱錢车車对對双雙换換迷迷语語船船学學礼禮伤傷独獨爱愛架架养養时時" +
			"爸爸宠寵说說妈媽户戶没沒电電机機门門儿兒护護几幾刹剎猫貓动動里裡过過买買办辦国國个個医醫点點浇澆吗嗎审審飞飛启啟梦夢盐鹽汤湯订訂" +
			"艺藝鱼魚谁誰开開乐樂来來园園烧燒书書业業运運陈陳静靜东東热熱欢歡")...).Replace},
}

// pairs splits a text into its characters.
func pairs(s string) []string { return strings.Split(s, "") }
