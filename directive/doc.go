// Package directive reads one @resilience directive of a schema:
//
//	shippingQuotes(orderId: ID!): [ShippingQuote!] @resilience(preset: "carrier", timeout: "1.5s")
//
// [Parse] turns it into a [Directive], which holds only what the directive says. What a
// setting that it leaves out is inherited from, whether its preset exists and where a
// directive may stand is not decided here.
package directive
