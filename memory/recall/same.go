package recall

import (
	"slices"
	"strings"
	"sync"
)

// shareSame is how much a synonym counts in place of the word. It was set by hand.
const shareSame = .8

// sameHan pairs Chinese words that mean the same where a question asks where, when or who: 我在哪工作 is
// answered by 我在医院上班, 什么时候结婚的 by 婚礼, and 午饭跟谁吃的 by 中午跟刘畅吃的饭.
var sameHan = map[string]string{"工作": "上班", "上班": "工作", "结婚": "婚礼", "婚礼": "结婚",
	"早饭": "早上", "午饭": "中午", "晚饭": "晚上"}

// synonyms has on each line words for one thing: abbreviations, spellings, and words of one region
// for those of another. They are written here, because a wider thesaurus finds more that is wrong
// than right (docs/recall.md). Paternal and maternal grandparents are different. A question for an
// age is answered in 岁.
const synonyms = `
doctor dr gp physician
physiotherapist physiotherapy physio
veterinarian veterinary vet
mathematics maths math
university uni
laboratory lab
examination exam
advertisement advert ad
apartment apt flat
birthday bday
christmas xmas
airplane aeroplane plane
cab taxi
lorry truck
diaper nappy
pram pushchair stroller
lawyer solicitor attorney
pharmacy chemist drugstore
garbage rubbish trash
faucet tap
flashlight torch
motorway highway freeway
couch sofa settee
cookie biscuit
sweater jumper pullover
trousers pants
postcode zip
medicine medication meds
surgery operation surgeon
allergy allergic
dental dentist
pregnant pregnancy
choice choose
decision decide
birth born
gift present
purchase buy
quid pound
colour color
favourite favorite
centre center
theatre theater
jewellery jewelry
grey gray
tyre tire
neighbour neighbor
programme program
flavour flavor
yoghurt yogurt
doughnut donut
pyjamas pajamas
moustache mustache
1st 1
2nd 2
3rd 3
4th 4
5th 5
6th 6
7th 7
8th 8
9th 9
10th 10
11th 11
12th 12
13 thirteen 13th thirteenth
14 fourteen 14th fourteenth
15 fifteen 15th fifteenth
16 sixteen 16th sixteenth
17 seventeen 17th seventeenth
18 eighteen 18th eighteenth
19 nineteen 19th nineteenth
20 twenty 20th twentieth
30 thirty 30th thirtieth
40 forty 40th fortieth
50 fifty 50th fiftieth
60 sixty 60th sixtieth
70 seventy 70th seventieth
80 eighty 80th eightieth
90 ninety 90th ninetieth
100 hundred 100th hundredth
妈妈 母亲 妈
爸爸 父亲 爸
老婆 妻子 太太 媳妇
老公 丈夫
爷爷 祖父
奶奶 祖母
外公 姥爷
外婆 姥姥
岳父 丈人
岳母 丈母娘
哥哥 哥
姐姐 姐
弟弟 弟
妹妹 妹
多大 岁
年纪 岁
地铁 捷运
出租车 计程车 的士
公交 公车 巴士
自行车 脚踏车 单车
摩托车 机车
电脑 计算机
空调 冷气
盒饭 便当
菠萝 凤梨
西红柿 番茄
土豆 马铃薯
红薯 地瓜 番薯
酸奶 优格
猕猴桃 奇异果
牛油果 酪梨
卷心菜 包菜 高丽菜
奶酪 芝士 起司
冰淇淋 冰激凌 雪糕
方便面 泡面
三文鱼 鲑鱼
幼儿园 幼稚园
视频 影片
网络 网路
软件 软体
鼠标 滑鼠
打印机 印表机
打印 列印
复印 影印
硬盘 硬碟
短信 简讯
充电宝 行动电源
医生 大夫 医师
护士 护理师
酒店 宾馆 旅馆
厕所 卫生间 洗手间
中介 仲介
工资 薪水 薪资
驾照 驾驶证
身份证 身分证
账号 帐号
账户 帐户
堵车 塞车
去世 过世 逝世
早饭 早餐
午饭 午餐 中饭
晚饭 晚餐
手术 开刀
头疼 头痛
牙疼 牙痛
发烧 发热
拉肚子 腹泻
感冒 着凉
辞职 离职
孩子 小孩
照片 相片
爬山 登山
`

// synonym is a word of [synonyms], and the others of its line.
type synonym struct {
	tail   string // of a Chinese word of three characters: its second pair
	others []string
}

// theSynonyms has the words of [synonyms] by their term, a Chinese one by its first pair.
var theSynonyms = sync.OnceValue(func() map[string][]synonym {
	of := map[string][]synonym{}
	for line := range strings.Lines(synonyms) {
		all := strings.Fields(line)
		for i, word := range all {
			key, s := lemma(word), synonym{others: slices.Concat(all[:i], all[i+1:])}
			if r := []rune(word); r[0] > 'z' && len(r) > 2 {
				key, s.tail = string(r[:2]), string(r[1:])
			}
			of[key] = append(of[key], s)
		}
	}
	return of
})

// synonymsAt returns the words that mean the same as the word at index i of a question.
func synonymsAt(words []word, i int) (out []string) {
	for _, s := range theSynonyms()[words[i].term] {
		if s.tail == "" || i+2 < len(words) && words[i+2].text == s.tail {
			out = append(out, s.others...)
		}
	}
	return out
}

// sameAs returns the terms in documents of other words with the same meaning as the word at index i
// of a question.
func (c *core) sameAs(words []word, i int, shape Shape) (out []weighted) {
	add := func(word string) {
		terms := c.found(lemma(word), 1)
		if r := []rune(word); r[0] > 'z' && len(r) > 2 {
			terms = c.chinese(word)
		}
		for _, t := range terms {
			out = append(out, weighted{t.term, t.weight * shareSame})
		}
	}
	for _, other := range synonymsAt(words, i) {
		add(other)
	}
	if other := sameHan[words[i].term]; other != "" && (shape == Where || shape == When || shape == Who) {
		add(other)
	}
	return out
}
