"""The changes of shape after the first, one file each; ``store.schema.STEPS`` lists them in order.

A step that was released is never edited.
"""
