package main

import (
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
	"time"
)

// The size of a screen, in pixels: a small laptop's window.
const (
	screenWidth  = 1024
	screenHeight = 720
)

// screenDay is when the questions are asked.
var screenDay = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// screen is an invented screen: its page, its picture, and a question that only this screen
// answers.
type screen struct {
	kind     string
	html     string
	picture  []byte
	question string
	answer   string // the print that answers
}

var screenKinds = []string{"mail", "chat", "calendar", "map", "receipt"}

// Names and things on the screens. Every person, thing and place is on several screens, so that
// only two of them together identify a screen.
var (
	screenPeople = strings.Fields("Anna Bruno Chidi Dilek Emil Farah Goran Hanna Ivo Jana Kofi Lena Milan Nadia Oskar Paola Quinn Rosa Sven Tara")
	screenThings = strings.Fields("roof boiler piano garden fence kitchen bicycle sofa window chimney")
	screenGoods  = strings.Split("folding chairs|tent pegs|apple cake|drum sticks|paint rollers|old maps|garden shears|board games|rubber boots|cable drum", "|")
	screenEvents = strings.Split("rehearsal|budget review|chess club|physiotherapy|parents' evening|pottery class|choir|book group|site visit|swimming lesson", "|")
	screenPlaces = strings.Split("Mill Lane 4|Harbour Hall|Room 312|Cedar House|North Gate|Studio B|Linden Square 9|Old Library|Dock 7|Garden Annex", "|")
	screenShops  = strings.Split("Fern Market|Copper Kettle|Blue Door Books|Harris Hardware|Sunset Pharmacy|Nordic Bakery|Pixel Repair|Green Wheel Cycles|Tailor Brandt|Orchid Florist", "|")
	screenItems  = strings.Split("olive oil|light bulbs|sketch pad|wood screws|cough syrup|rye bread|charging cable|brake pads|wool scarf|potted fern", "|")
	screenDays   = strings.Fields("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
	zhPeople     = strings.Fields("王芳 李强 张敏 刘洋 陈静 杨磊 赵雪 周涛 吴倩 孙悦")
	zhGoods      = strings.Fields("折叠椅 帐篷 苹果派 油漆 旧地图 园艺剪 雨靴 望远镜 工具箱 投影仪")
	zhShops      = strings.Fields("永辉超市 新华书店 同仁堂 好利来 五金店 花店 文具店 修车行 水果铺 裁缝店")
	zhItems      = strings.Fields("橄榄油 灯泡 素描本 螺丝 止咳糖浆 面包 充电线 刹车片 围巾 绿萝")
)

// makeScreens makes n screens, kind after kind. Every fourth mail, chat and receipt is Chinese.
func makeScreens(n int, seed uint64) []screen {
	r := rand.New(rand.NewPCG(seed, 17))
	pairs := map[string][]int{} // for each kind, the pairs of names that are left
	pair := func(kind string, a, b int) (int, int) {
		if pairs[kind] == nil {
			pairs[kind] = r.Perm(a * b)
		}
		p := pairs[kind][0]
		if pairs[kind] = pairs[kind][1:]; len(pairs[kind]) == 0 {
			pairs[kind] = r.Perm(a * b)
		}
		return p % a, p / a
	}
	all := make([]screen, n)
	for i := range all {
		kind := screenKinds[i%len(screenKinds)]
		chinese := i/len(screenKinds)%4 == 3
		switch s := &all[i]; {
		case kind == "mail" && chinese:
			*s = mailZh(r, pair)
		case kind == "mail":
			*s = mail(r, pair)
		case kind == "chat" && chinese:
			*s = chatZh(r, pair)
		case kind == "chat":
			*s = chat(r, pair)
		case kind == "calendar":
			*s = calendar(r, pair)
		case kind == "map":
			*s = mapped(r, pair)
		case chinese:
			*s = receiptZh(r, pair)
		default:
			*s = receipt(r, pair)
		}
		all[i].kind = kind
	}
	return all
}

type pairing func(kind string, a, b int) (int, int)

func oneOf(r *rand.Rand, of []string) string { return of[r.IntN(len(of))] }

// window returns a page of a program: its title and its content.
func window(title, style string, body ...string) string {
	return `<!doctype html><meta charset="utf-8"><style>body{margin:0;font:17px "DejaVu Sans","Noto Sans CJK SC",sans-serif;background:#fff;color:#111}
header{background:#28415c;color:#fff;padding:10px 20px;font-size:18px}main{padding:24px 32px;line-height:1.6}` + style + `</style><header>` + html.EscapeString(title) + `</header><main>` + strings.Join(body, "\n") + `</main>`
}

func para(format string, a ...any) string {
	return "<p>" + html.EscapeString(fmt.Sprintf(format, a...)) + "</p>"
}

func mail(r *rand.Rand, pair pairing) screen {
	p, t := pair("mail", len(screenPeople), len(screenThings))
	who, thing := screenPeople[p], screenThings[t]
	sum := fmt.Sprintf("%d euros", 100+r.IntN(4800))
	due := fmt.Sprintf("%d July", 1+r.IntN(30))
	return screen{html: window("Inbox", "", para("From: %s", who), para("To: Mei"), "<h2>"+html.EscapeString("About the "+thing)+"</h2>", para("Hello Mei,"),
		para("the work on the %s is done. It comes to %s, with the material.", thing, sum), para("Please pay by %s. If anything is unclear, give me a ring.", due), para("Best wishes, %s", who)),
		question: fmt.Sprintf("how much does %s ask for the %s", who, thing), answer: sum}
}

func mailZh(r *rand.Rand, pair pairing) screen {
	p, g := pair("mail_zh", len(zhPeople), len(zhGoods))
	who, thing := zhPeople[p], zhGoods[g]
	sum := fmt.Sprintf("%d元", 100+r.IntN(4800))
	return screen{html: window("收件箱", "", para("发件人：%s", who), "<h2>"+html.EscapeString("关于"+thing)+"</h2>", para("你好，"), para("%s已经修好了，一共%s，包括材料费。", thing, sum),
		para("请在七月%d日以前付款。", 1+r.IntN(30)), para("祝好，%s", who)),
		question: fmt.Sprintf("%s修%s要多少钱", who, thing), answer: sum}
}

func chat(r *rand.Rand, pair pairing) screen {
	p, g := pair("chat", len(screenPeople), len(screenGoods))
	who, goods, day := screenPeople[p], screenGoods[g], oneOf(r, screenDays)
	say := func(who, text string) string { return para("%s: %s", who, text) }
	return screen{html: window("Chat with "+who, "p{background:#e8f0e4;border-radius:12px;padding:8px 14px;width:70%}", say(who, "Hi! Did you get home all right?"), say("Mei", "Yes, thanks. What was it you needed?"),
		say(who, "Could you bring the "+goods+" on "+day+"?"), say("Mei", "Sure, I'll put them into the car."), say(who, "You are a star.")),
		question: fmt.Sprintf("when does %s want the %s", who, goods), answer: day}
}

func chatZh(r *rand.Rand, pair pairing) screen {
	p, g := pair("chat_zh", len(zhPeople), len(zhGoods))
	who, goods, day := zhPeople[p], zhGoods[g], "星期"+oneOf(r, strings.Fields("一 二 三 四 五 六"))
	say := func(who, text string) string { return para("%s：%s", who, text) }
	return screen{html: window(who, "p{background:#e8f0e4;border-radius:12px;padding:8px 14px;width:70%}", say(who, "到家了吗？"), say("我", "到了，你要什么来着？"), say(who, day+"能把"+goods+"带来吗？"), say("我", "好的，我放车里。")),
		question: fmt.Sprintf("%s什么时候要%s", who, goods), answer: day}
}

func calendar(r *rand.Rand, pair pairing) screen {
	var rows []string
	var s screen
	for i, day := range screenDays[:5] {
		p, e := pair("calendar", len(screenPeople), len(screenEvents))
		who, event, place := screenPeople[p], screenEvents[e], oneOf(r, screenPlaces)
		row := fmt.Sprintf("%s %d:%02d  %s with %s, %s", day, 8+r.IntN(11), 15*r.IntN(4), event, who, place)
		rows = append(rows, para("%s", row))
		if i == 2 {
			s.question, s.answer = fmt.Sprintf("where is the %s with %s", event, who), place
		}
	}
	s.html = window(fmt.Sprintf("Calendar, week %d", 20+r.IntN(20)), "p{border-bottom:1px solid #bbb;padding:6px}", rows...)
	return s
}

func mapped(r *rand.Rand, pair pairing) screen {
	h, p := pair("map", len(screenShops), len(screenPlaces))
	shop, street := screenShops[h], screenPlaces[p]
	opens := fmt.Sprintf("%d:%02d", 6+r.IntN(5), 15*r.IntN(4))
	return screen{html: window("Map", "#card{position:absolute;right:40px;top:90px;width:420px;background:#fff;border:1px solid #999;padding:14px}#map{position:absolute;left:0;top:46px;width:1024px;height:680px;"+
		"background:repeating-linear-gradient(45deg,#dfe8d8 0 40px,#eee 40px 46px)}", `<div id="map"></div><div id="card">`, "<h2>"+html.EscapeString(shop)+"</h2>", para("by %s", street),
		para("%d minutes on foot, %d.%d km", 3+r.IntN(30), r.IntN(3), r.IntN(10)), para("Opens at %s", opens), para("Rated 4.%d", r.IntN(10)), "</div>"),
		question: fmt.Sprintf("when does the %s near %s open", shop, street), answer: opens}
}

func receipt(r *rand.Rand, pair pairing) screen {
	h, t := pair("receipt", len(screenShops), len(screenItems))
	shop, item := screenShops[h], screenItems[t]
	price := fmt.Sprintf("%d.%02d", 2+r.IntN(60), r.IntN(100))
	rows := []string{"<h2>" + html.EscapeString(shop) + "</h2>"}
	for i := range 4 {
		if i == 1 {
			rows = append(rows, para("%s  %s", item, price))
			continue
		}
		rows = append(rows, para("%s  %d.%02d", oneOf(r, strings.Fields("paper bag soap candles tape sponge napkins cord")), 1+r.IntN(9), r.IntN(100)))
	}
	rows = append(rows, para("Total  %d.%02d EUR", 70+r.IntN(60), r.IntN(100)), para("Thank you for your visit"))
	return screen{html: window("Receipt", "", rows...), question: fmt.Sprintf("what did the %s cost at %s", item, shop), answer: price}
}

func receiptZh(r *rand.Rand, pair pairing) screen {
	h, t := pair("receipt_zh", len(zhShops), len(zhItems))
	shop, item := zhShops[h], zhItems[t]
	price := fmt.Sprintf("%d.%02d", 2+r.IntN(60), r.IntN(100))
	return screen{html: window("小票", "", "<h2>"+html.EscapeString(shop)+"</h2>", para("购物袋  0.%02d", 10+r.IntN(80)), para("%s  %s", item, price), para("合计  %d.%02d元", 70+r.IntN(60), r.IntN(100)), para("谢谢惠顾")),
		question: fmt.Sprintf("在%s买%s花了多少钱", shop, item), answer: price}
}
