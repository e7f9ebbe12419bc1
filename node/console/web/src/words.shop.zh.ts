// Chinese, for the market.

import type { enShop } from "./words.shop.en";

export const zhShop: Record<keyof typeof enShop, string> = {
  "shop.title": "市场", "shop.says": "别人的记忆合集，名字等内容已去掉。市场看得到条目和订单，看不到合集里的内容。", "shop.go": "去市场", "shop.find": "找一找", "shop.words": "花园 番茄", "shop.do": "搜索", "shop.more": "价格和其他市场", "shop.most": "最高价", "shop.at": "市场的地址", "shop.atHint": "留空就用你的中继", "shop.none": "Locket 没有可以询问的市场。请输入一个市场的地址。", "shop.nothing": "没有符合的。", "shop.newest": "最新在前", "shop.sold": "售出 {n} 次", "shop.by": "卖家 {key}", "shop.stars": "{n} 分（满分 5），{by} 位买家", "shop.narrow": "还有 {n} 个：请说得更具体些。",
  "offer.buy": "购买，{price}", "offer.pay": "支付 {price}", "offer.ended": "已经不卖了。", "offer.sample": "样例", "offer.sampleSays": "卖家写给所有人看的。", "offer.about": "关于它", "offer.holds": "内容", "offer.period": "时间", "offer.categories": "类别", "offer.languages": "语言", "offer.out": "已去掉", "offer.licence": "你可以", "offer.terms": "条款", "offer.seller": "卖家的密钥", "offer.delivery": "交付", "offer.deliveryDays": "付款后 {n} 天内，否则退款；之后你有 {accept} 天来查看", "offer.reviews": "买家怎么说", "offer.noReviews": "还没有人评价。", "offer.ofFive": "{n} 分（满分 5）", "offer.buyer": "买家 {key}", "offer.report": "举报", "offer.reportWhy": "有什么问题，写给市场的运营者", "offer.reportDo": "发送", "offer.reported": "已告诉市场的运营者。", "offer.bought": "已付款。现在由卖家交付。",
  "redaction.names": "名字", "redaction.names=pseudonyms": "名字（换成了别的）", "redaction.places": "地点", "redaction.times": "时间", "redaction.numbers": "数字", "redaction.words": "卖家选的词",
  "pay.how": "怎么付款？", "pay.funds": "用我在市场的余额", "pay.voucher": "用代金券", "pay.card": "用银行卡", "pay.cardSays": "在支付服务商的页面上付款。市场看不到卡。", "pay.page": "到服务商的页面付款", "pay.undo": "在你接受之前，钱由市场保管。你接受之后，或到期都没有表示，钱就归卖家，谁也要不回来。代金券的码在谁手里，钱就归谁。",
  "orders.title": "你订购的", "orders.none": "还没有。", "orders.look": "看看进展", "orders.late": "有一个订单的进展不明：", "orders.back": "退回 {sum}",
  "next.ordered": "付款，或者取消。不付款一天后自动失效。", "next.funded": "等卖家交付，否则退款。", "next.delivered": "看看收到的内容，然后接受或提出异议。", "next.disputed": "等仲裁者裁定，否则退款。", "next.accepted": "卖家已收款。你可以评价。", "next.settled": "仲裁者已裁定。", "next.refunded": "钱已退到你在市场的余额。", "next.expired": "没有付款，已结束。",
  "order.next": "下一步", "order.reason": "说明：", "order.broken": "这和条目不符。你可以提出异议：", "order.brokenItem": "第 {n} 项和条目不符。你可以提出异议：", "order.checked": "{n} 项都和条目相符。", "order.listing": "查看条目", "order.came": "收到的内容：{n}", "order.cameSays": "搜索时也会出现，标明是买来的，不会混到你的记忆里。",
  "order.accept": "接受", "order.acceptSays": "卖家会收到 {price}。这要不回来。", "order.acceptDo": "付给卖家 {price}", "order.acceptDone": "已接受：卖家已收款。",
  "order.dispute": "提出异议", "order.disputeSays": "只有条目指定的仲裁者能看到其中一项。卖家、仲裁者和市场会读到你的理由。仲裁者有 14 天；之后退款。", "order.disputeDone": "已提出异议，由仲裁者查看。", "order.item": "有问题的是第几项", "order.why": "有什么问题",
  "order.cancel": "取消订单", "order.cancelSays": "没有付款，也不欠什么。", "order.cancelDone": "已取消。",
  "order.review": "评价", "order.reviewSays": "所有人都能读到。用你的密钥签名：别人能看出你的评价都出自同一个买家。", "order.reviewDone": "已评价。", "order.stars": "怎么样？", "order.text": "说几句",
  "purse.title": "你在市场的余额", "purse.says": "用来支付你的订单，以及可购买的应用的订单。", "purse.none": "没有", "purse.put": "存入代金券", "purse.putDo": "存入", "purse.isIn": "已存入你在市场的余额。", "purse.take": "取出余额", "purse.takeDo": "取出", "purse.amount": "多少", "purse.isOut": "已取出为代金券。", "purse.code": "请保存这个码：谁有它，钱就归谁。只显示这一次。",
  "market.payout": "取出收入",
  "sell.new": "出售一些内容", "sell.who": "条目", "sell.whatTitle": "想出售什么？", "sell.whoTitle": "大家会先读到什么？", "sell.lookTitle": "买家会得到这些", "sell.public": "这里写的所有人都能读到。你要去掉的内容不能写在里面。", "sell.title": "标题", "sell.description": "里面有什么", "sell.categories": "类别，用逗号分开", "sell.categoriesHint": "garden, travel-japan", "sell.languages": "语言，用逗号分开", "sell.sample": "你写的样例", "sell.sampleHint": "豆子要搭架子。", "sell.price": "价格", "sell.licence": "买家可以用来做什么", "sell.licenceHint": "个人使用，不得转给他人", "sell.market": "市场的地址", "sell.approve": "每次售出前先问我", "sell.approveSays": "否则付款后 Locket 会自动交付。", "sell.deliver": "你有几天交付", "sell.accept": "买家有几天来接受", "sell.buyer": "买家", "sell.undo": "买家可以保留收到的内容，也可能违反许可转给别人：谁也要不回来。标题、介绍和样例立即公开，并留在市场的日志里。", "sell.do": "以 {price} 上架", "sell.listed": "已上架。",
};
