"""Products that are like another one."""


class Similar:
    def __init__(self, mongo):
        self._collection = mongo.reco.similarities

    def find_similar(self, product, most=12):
        query = {"product_id": product}
        return list(self._collection.find(query).limit(most))
