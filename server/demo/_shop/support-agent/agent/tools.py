"""The tools of the agent."""

from datetime import timedelta


class OrderNotFound(Exception):
    pass


class SearchUnavailable(Exception):
    pass


class RefundWindowExpired(Exception):
    pass


def lookup_order(orders, order_id):
    order = orders.get(order_id)
    if order is None:
        raise OrderNotFound("no order with this id")
    return order


def track_shipment(carrier, order_id):
    return carrier.track(order_id, timeout=timedelta(seconds=5))


def search_help(index, query):
    if index.rebuilding:
        raise SearchUnavailable("the help index is being rebuilt")
    return index.search(query)


def issue_refund(payments, order, today):
    if today - order.placed > timedelta(days=30):
        raise RefundWindowExpired("the order is older than 30 days")
    return payments.refund(order)
